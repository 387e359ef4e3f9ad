"""Record a session of the curator and replay it on neighbouring tables."""
