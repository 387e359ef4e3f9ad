"""The console: pages on the service, for people who would rather look than type commands."""
