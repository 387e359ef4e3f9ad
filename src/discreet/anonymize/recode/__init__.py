"""Recoding a table until models hold: full-domain, local, Mondrian, microaggregation."""
