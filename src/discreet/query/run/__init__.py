"""The statements of a plan, run on an engine, and the noise."""
