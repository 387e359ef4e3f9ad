"""Standalone pages: no network, no scripts, light and dark, readable on a phone."""
