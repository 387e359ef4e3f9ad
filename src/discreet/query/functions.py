"""The fixed list of row functions: what each needs, what it returns, and a template that cannot raise.

Every rule states the result's type and a public interval that holds all its values. What is not listed is refused.
"""

from __future__ import annotations

from sqlglot import exp

from discreet.query.conversion import Rule
from discreet.query.logic import LOGIC_RULES
from discreet.query.numbers import NUMBER_RULES
from discreet.query.texts import TEXT_RULES

__all__ = ["RULES"]

RULES: dict[type[exp.Expr], Rule] = NUMBER_RULES | LOGIC_RULES | TEXT_RULES
"""How each allowed function is read; a function that is neither here nor read by `reading` itself is refused."""
