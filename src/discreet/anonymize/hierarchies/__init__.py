"""Generalization hierarchies: how a value becomes coarser, level by level."""
