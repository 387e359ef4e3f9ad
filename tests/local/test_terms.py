from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidInput, InvalidValue
from discreet.local.choose import randomizer_of
from discreet.local.randomized_response import BinaryResponse, GeneralizedResponse
from discreet.local.terms import Bounds, ReportField, Terms, smallest_unsigned

LAYOUT = (ReportField("position", "u1"),)
TERMS = Terms("grr", Fraction(1, 3), ("no", "yes"), LAYOUT, (("truth", "3/4"),))

names = st.lists(st.one_of(st.text(st.characters(exclude_categories=["Cs"])), st.integers()), min_size=2, unique=True)


@given(st.fractions(min_value="1/100", max_value=100), names)
def test_terms_can_be_written_and_read(epsilon, categories) -> None:
    terms = Terms("grr", epsilon, tuple(categories), LAYOUT)
    again = Terms.from_json(terms.to_json())
    assert again == terms
    assert again.fingerprint == terms.fingerprint
    assert [type(name) for name in again.domain] == [type(name) for name in terms.domain]


def test_bounds_can_be_written_and_read() -> None:
    terms = Terms("duchi", Fraction(1), Bounds(Fraction(-1, 3), Fraction(7)), LAYOUT)
    assert Terms.from_json(terms.to_json()) == terms


def test_the_fingerprint_does_not_change_between_versions_of_the_code() -> None:
    """Devices in the field carry it: a change here breaks them."""
    assert TERMS.to_json() == (
        '{"domain":["no","yes"],"epsilon":"1/3","kind":"grr","layout":[["position","u1",1]],'
        '"parameters":{"truth":"3/4"},"version":1}'
    )
    assert TERMS.fingerprint == "b3b4bace19fe97f0"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kind": "oue"}, "grr against oue"),
        ({"epsilon": Fraction(1, 2)}, "ε 0.333333 against 0.5"),
        ({"domain": ("no", "maybe")}, "category 2 is 'yes' against 'maybe'"),
        ({"domain": ("no", "yes", "maybe")}, "2 categories against 3"),
        ({"domain": Bounds(Fraction(0), Fraction(1))}, "2 categories against numbers from 0 to 1"),
        ({"parameters": (("truth", "2/3"),)}, "truth 3/4 against 2/3"),
        ({"parameters": ()}, "truth 3/4 against none"),
        ({"layout": (ReportField("position", "u2"),)}, "another layout"),
    ],
)
def test_a_refusal_names_what_differs(change: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidValue, match="under the same terms") as refusal:
        TERMS.check_same(replace(TERMS, **change))
    assert words in str(refusal.value.value)


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"version": "1"},
        {"epsilon": "x"},
        {"epsilon": None},
        {"epsilon": "-1"},
        {"epsilon": "0"},
        {"kind": 3},
        {"domain": "ab"},
        {"domain": ["a"]},
        {"domain": [["a"], ["b"]]},
        {"domain": {"lower": "1", "upper": "0"}},
        {"domain": {"lower": "1"}},
        {"layout": []},
        {"layout": "u1"},
        {"layout": [["position", "O", 1]]},
        {"layout": [["position", "u1", 0]]},
        {"layout": [["position", "u2", 3]]},
        {"layout": [["position", ["u1"], 1]]},
        {"layout": [["", "u1", 1]]},
        {"layout": [[True, "u1", 1]]},
        {"layout": [["position", "u1"]]},
        {"parameters": []},
        {"parameters": {"a": 0.5}},
        {"more": 1},
    ],
)
def test_refuses_terms_that_nobody_wrote(change: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        Terms.from_json(json.dumps(TERMS.to_dict() | change))


@pytest.mark.parametrize("text", ["", "{", "[]", "1", "[" * 100_000, "{}"])
def test_refuses_what_is_no_json_of_terms(text: str) -> None:
    with pytest.raises(InvalidInput):
        Terms.from_json(text)


def test_a_server_finds_the_randomizer_by_its_terms() -> None:
    for made in (BinaryResponse.coins(), GeneralizedResponse(2, ["a", "b", "c"])):
        found = randomizer_of(Terms.from_json(made.terms.to_json()))
        assert type(found) is type(made)
        assert found.terms == made.terms


def test_refuses_terms_that_no_randomizer_has() -> None:
    good = GeneralizedResponse(2, ["a", "b", "c"]).terms
    for bad in (
        replace(good, kind="none"),
        replace(good, domain=Bounds(Fraction(0), Fraction(1))),
        replace(good, layout=(ReportField("position", "u4"),)),
        replace(good, parameters=(("truth", "1/9"),)),
        replace(good, parameters=(("colour", "red"),)),
        "terms",
    ):
        with pytest.raises(InvalidInput):
            randomizer_of(bad)


@pytest.mark.parametrize(("count", "type_"), [(2, "u1"), (256, "u1"), (257, "u2"), (65537, "u4"), (2**32 + 1, "u8")])
def test_the_smallest_type_holds_every_position(count: int, type_: str) -> None:
    assert smallest_unsigned(count) == type_
