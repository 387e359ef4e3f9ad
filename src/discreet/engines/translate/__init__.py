"""Writes the statements of a plan in the dialect of another engine."""
