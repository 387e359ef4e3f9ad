"""Signed statements about an answer and its loss."""
