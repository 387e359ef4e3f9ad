"""Answers on synthetic rows made from the policy alone."""
