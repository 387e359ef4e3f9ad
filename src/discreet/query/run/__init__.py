"""The statements of a plan, its fingerprint, and the noise: what is run on an engine."""
