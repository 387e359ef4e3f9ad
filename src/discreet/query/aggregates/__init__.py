"""Aggregates over private rows, one class each in one registry, and the statistics that they are read from."""
