"""Exact randomness: one cryptographic source, and laws that are sampled exactly as they are stated."""
