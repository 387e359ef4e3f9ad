"""Typed row expressions that cannot raise, with sound bounds: the allow-list of functions."""
