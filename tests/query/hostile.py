"""People with the worst rows there can be: missing, enormous, not a number, outside every list."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, datetime

from hypothesis import strategies as st

from tests.query.world import Row, World

WORDS = ("a", "b", "it's", "Ω", "zz", "", "A", "a\x00b", "%", "2020-01-01", "99999999999999999999", "true", '"', "\\'")
WHOLE = (0, 1, -1, 2, 37, 50, 110, 111, 10**6, 2**31, 2**62, 2**63 - 1, -(2**63), -(2**53) - 1)
REALS = (0.0, -0.0, 1.0, 0.5, 999.999, 1e-308, 5e-324, 1e17 + 16, 1e300, -1e308, math.inf, -math.inf, math.nan, 710.0)
DATES = (date.min, date.max, date(1969, 12, 31), date(2020, 1, 1), date(2020, 2, 29), date(2021, 12, 31))
TIMES = (datetime.min, datetime.max, datetime(1970, 1, 1), datetime(2021, 5, 1, 23, 59, 59, 999999))


def _or_missing(values: tuple[object, ...]) -> st.SearchStrategy[object]:
    return st.sampled_from((*values, None))


VISIT = st.tuples(
    _or_missing(WORDS),
    _or_missing(WHOLE),
    _or_missing(REALS),
    _or_missing(REALS),
    _or_missing(WHOLE),
    _or_missing(DATES),
    _or_missing(TIMES),
    _or_missing((True, False)),
    _or_missing(WORDS),
    _or_missing(("x", "y", "z")),
    _or_missing((*TIMES, datetime(2021, 1, 31, 23, 30), datetime(2021, 3, 31, 11, 59, 59))),
)
PATIENT = st.tuples(_or_missing((1899, 1950, 2020, 2**60)), _or_missing(("f", "m", "x")))


@dataclass(frozen=True)
class Person:
    """All rows of one person."""

    visits: list[Row]
    patients: list[Row]
    survey: Row


PEOPLE = st.builds(
    Person,
    st.lists(VISIT, max_size=7),
    st.lists(PATIENT, max_size=5),
    st.tuples(_or_missing(WHOLE), _or_missing((True, False))),
)


def world_of(people: dict[int, Person]) -> World:
    """A world in which these people live; a person is known by the number they have here."""
    visits = [(n, (n, *row)) for n, person in people.items() for row in person.visits]
    patients = [(n, (n, *row)) for n, person in people.items() for row in person.patients]
    survey = [(n, person.survey) for n, person in people.items()]
    return World({"visits": visits, "swaps": visits, "patients": patients, "survey": survey})
