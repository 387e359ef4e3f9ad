"""Backup, restore and upgrade of a folder."""
