"""Paid advice to owners: bounds and limits on contributions."""
