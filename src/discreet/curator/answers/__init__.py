"""The answer object and its forms."""
