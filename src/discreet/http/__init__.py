"""What every server of the service answers alike: one shape for problems, headers, and bodies within limits."""
