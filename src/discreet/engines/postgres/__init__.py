"""Rows that stay in PostgreSQL."""
