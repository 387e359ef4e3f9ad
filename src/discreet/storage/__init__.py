"""Databases: small databases that must not lose what was written, as a file of one host or on a server for several."""
