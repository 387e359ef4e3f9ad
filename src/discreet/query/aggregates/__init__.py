"""Aggregates over private rows: one class each, with everything that is particular to it, in one registry."""
