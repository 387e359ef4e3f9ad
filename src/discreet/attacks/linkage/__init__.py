"""Linking releases with what an attacker knows about people."""
