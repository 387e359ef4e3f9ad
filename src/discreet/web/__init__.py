"""What every server of the house answers alike: one shape for problems, headers, and bodies within limits."""
