"""Discreet: differential privacy with exact noise and losses that are never understated."""
