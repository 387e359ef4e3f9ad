"""Refusals speak one grammar: the rule, the value, what would work."""

from __future__ import annotations

import pickle
import sys

import pytest

from discreet import errors
from discreet.errors import DiscreetError, InvalidType, InvalidValue, QueryRefused


def test_says_the_rule_then_the_value_then_what_would_work() -> None:
    assert str(InvalidValue("epsilon must be positive", -1)) == "epsilon must be positive, got -1"
    assert str(InvalidValue("rule", "<described>", "remedy")) == "rule, got <described>; remedy"
    assert str(InvalidValue("rule")) == "rule"


def test_python_knows_what_kind_of_error_it_is() -> None:
    assert issubclass(InvalidValue, ValueError)
    assert issubclass(InvalidType, TypeError)
    found = [thing for thing in vars(errors).values() if isinstance(thing, type) and issubclass(thing, Exception)]
    assert all(issubclass(thing, DiscreetError) for thing in found)


def test_long_values_are_cut() -> None:
    assert len(str(InvalidValue("rule", "x" * 10_000))) < 100


def test_integers_that_python_refuses_to_spell_are_described() -> None:
    assert "too long to print" in str(InvalidValue("rule", 10 ** (sys.get_int_max_str_digits() + 10)))


def test_a_refused_query_points_at_its_place() -> None:
    refusal = QueryRefused("sums need bounds", "SUM(x)", "state bounds", line=2, column=8)
    assert str(refusal) == "line 2, column 8: sums need bounds, got SUM(x); state bounds"


@pytest.mark.parametrize("error", [InvalidValue("rule", 1, "remedy"), InvalidType("rule", None)])
def test_errors_survive_a_trip_between_processes(error: DiscreetError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
