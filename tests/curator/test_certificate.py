"""Certificates: what they state is true, and no part of it can be changed without showing."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.curator.certificates.certificate import is_genuine, is_in_ledger, issue, read_certificate
from discreet.curator.certificates.contents import statements
from discreet.curator.curator import Curator
from discreet.curator.ledger.signing import Signer
from discreet.errors import InvalidInput
from discreet.privacy.loss import Approximate, GaussianDP, Loss, Pure, Renyi, ZeroConcentrated

QUESTION = "SELECT ward, COUNT(*) AS n, AVG(age) AS mean_age, MEDIAN(age) AS middle FROM visits GROUP BY ward"
Place = tuple[str | int, ...]


def asked(folder: Path, budget: Budget, sql: str = QUESTION) -> tuple[Curator, dict[str, Any]]:
    curator = Curator(folder)
    columns = (
        Column("person", ColumnType.INTEGER),
        Column("ward", ColumnType.TEXT, keys=("a", "b"), nullable=False),
        Column("age", ColumnType.INTEGER, lower=0, upper=100),
        Column("town", ColumnType.TEXT),
    )
    policy = Table("visits", columns, unit="person", budget=budget, rows_per_unit=3)
    rows = {"person": [k // 2 for k in range(400)], "ward": ["a", "b"] * 200, "age": list(range(100)) * 4}
    curator.protect(pa.table(rows | {"town": ["x"] * 400}), policy)
    return curator, curator.ask(sql, epsilon="0.5").certificate


@pytest.fixture(scope="module")
def pure(tmp_path_factory: pytest.TempPathFactory) -> tuple[Curator, dict[str, Any]]:
    return asked(tmp_path_factory.mktemp("pure"), Budget(3))


# Tampering --------------------------------------------------------------------------------------------------------


def places(value: Any, path: Place = ()) -> Iterator[Place]:
    """Every place in a certificate, leaves and branches."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from places(part, (*path, key))


def at(paper: Any, path: Place) -> Any:
    for key in path:
        paper = paper[key]
    return paper


def forgeries(paper: dict[str, Any]) -> Iterator[tuple[Place, dict[str, Any]]]:
    """The certificate with one thing changed, removed or added, for everything in it."""
    for path in places(paper):
        value = at(paper, path)
        for other in (_another(value), None, {}, str(value) + " "):
            forged = copy.deepcopy(paper)
            at(forged, path[:-1])[path[-1]] = other
            yield path, forged
        forged = copy.deepcopy(paper)
        del at(forged, path[:-1])[path[-1]]
        yield path, forged
        if isinstance(value, (dict, list)):
            forged = copy.deepcopy(paper)
            branch = at(forged, path)
            branch.append("more") if isinstance(branch, list) else branch.update(more="more")
            yield path, forged
    yield (), paper | {"more": "more"}


def _another(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str):
        return ("0" if value[:1] != "0" else "1") + value[1:]
    return "another"


def test_a_change_anywhere_shows(pure: tuple[Curator, dict[str, Any]]) -> None:
    _, paper = pure
    assert is_genuine(paper)
    tried, believed = 0, []
    for path, forged in forgeries(json.loads(json.dumps(paper))):
        tried += 1
        if is_genuine(forged):
            believed.append(path)
    assert tried > 300
    assert not believed


def test_numbers_that_are_equal_but_spelled_otherwise_show(pure: tuple[Curator, dict[str, Any]]) -> None:
    _, paper = pure
    position = paper["ledger"]["position"]
    assert not is_genuine(paper | {"ledger": paper["ledger"] | {"position": float(position)}})


@pytest.mark.parametrize(
    "change", [str.upper, lambda text: text + " ", lambda text: " " + text, lambda text: "0x" + text]
)
def test_a_signature_has_one_spelling(pure: tuple[Curator, dict[str, Any]], change: Any) -> None:
    _, paper = pure
    assert not is_genuine(paper | {"signature": change(paper["signature"])})


def test_somebody_elses_signature_is_theirs(pure: tuple[Curator, dict[str, Any]], tmp_path: Path) -> None:
    _, paper = pure
    facts = {name: value for name, value in paper.items() if name not in ("public_key", "signature")}
    forged = issue(facts | {"question": "another"}, Signer(tmp_path))
    assert is_genuine(forged)
    assert not is_genuine(forged, paper["public_key"])
    assert is_genuine(paper, paper["public_key"].upper())


def test_a_name_that_is_given_twice_is_refused(pure: tuple[Curator, dict[str, Any]]) -> None:
    _, paper = pure
    text = json.dumps(paper)
    assert read_certificate(text) == paper
    twice = text.replace("{", '{"question": "SELECT 1", ', 1)
    assert json.loads(twice) == paper  # the usual reader takes the last one, people read the first
    with pytest.raises(InvalidInput, match="every name once"):
        read_certificate(twice)


@pytest.mark.parametrize("text", ["", "[]", "3", "null", "{", '{"a": NaN}', "[" * 100_000, b"\xff"])
def test_other_text_is_no_certificate(text: str | bytes) -> None:
    with pytest.raises(InvalidInput):
        read_certificate(text)


# The ledger -------------------------------------------------------------------------------------------------------


def test_the_ledger_has_the_answer_where_the_certificate_says(pure: tuple[Curator, dict[str, Any]]) -> None:
    curator, paper = pure
    assert is_in_ledger(paper, curator.ledger)
    stated = paper["ledger"]
    for other in (
        {"ledger": stated | {"position": stated["charge"]}},
        {"ledger": stated | {"position": 10**9}},
        {"ledger": stated | {"position": "1"}},
        {"ledger": stated | {"head": "00" * 32}},
        {"ledger": stated | {"charge": 1}},
        {"answer": "00" * 32},
        {"ledger": None},
    ):
        assert not is_in_ledger(paper | other, curator.ledger)


# What it states ---------------------------------------------------------------------------------------------------


def test_it_states_everything_that_a_reader_needs(pure: tuple[Curator, dict[str, Any]]) -> None:
    curator, paper = pure
    assert paper["question"] == QUESTION
    assert paper["unit"] == "visits.person"
    assert paper["neighbours"] == "add-remove-one"
    assert paper["tables"] == {"visits": curator.engine.version("visits")}
    assert paper["price"] == {"amount": 0.5, "unit": "ε", "exact": "1/2", "repr": "Pure(ε=0.5)"}
    assert paper["charged"]["prices"].keys() == {"visits"}
    [block] = paper["plan"]["blocks"]
    assert block["groups"]["by"] == ["ward"]
    assert block["groups"]["released"] == 2
    assert "min(n, 3)" in block["rows"]
    assert {kind for mechanism in block["mechanisms"] for kind in mechanism["for"]} >= {"count", "mean", "quantile"}
    assert "object at" not in json.dumps(paper)


def test_the_shares_of_the_mechanisms_add_up_to_the_price_at_most(pure: tuple[Curator, dict[str, Any]]) -> None:
    _, paper = pure
    mechanisms = [mechanism for block in paper["plan"]["blocks"] for mechanism in block["mechanisms"]]
    shares = [Fraction(m["share" if "share" in m else "epsilon"]["exact"]) for m in mechanisms]
    assert 0 < sum(shares) <= Fraction(1, 2)


def test_a_budget_with_a_delta_is_stated_at_that_delta(tmp_path: Path) -> None:
    _, paper = asked(tmp_path, Budget(3, "1e-6"))
    loss = paper["loss"]
    assert loss.keys() == {"approximate", "zero_concentrated", "renyi"}
    assert loss["approximate"]["delta"]["exact"] == str(Fraction(1, 10**6))
    assert Fraction(loss["approximate"]["epsilon"]["exact"]) <= Fraction(1, 2)


def test_keys_that_nobody_listed_add_their_own_delta_and_no_pure_loss_is_claimed(tmp_path: Path) -> None:
    sql = "SELECT town, COUNT(*) AS n FROM visits GROUP BY town"
    _, paper = asked(tmp_path, Budget(3, "1e-6", "5e-7"), sql)
    [block] = paper["plan"]["blocks"]
    assert "not public" in block["groups"]["keys"]
    own = Fraction(block["groups"]["delta"]["exact"])
    assert own > 0
    assert Fraction(paper["loss"]["approximate"]["delta"]["exact"]) >= Fraction(1, 2 * 10**6) + own
    assert Fraction(paper["loss"]["zero_concentrated"]["but_for"]["exact"]) >= own
    assert "pure" not in paper["loss"]


@pytest.mark.parametrize(
    ("price", "delta"),
    [(Pure("1/3"), 0), (Pure(2), "1e-6"), (ZeroConcentrated("1/7"), "1e-6"), (GaussianDP("0.7"), "1e-6")],
)
def test_every_statement_is_one_that_the_price_proves(price: Loss, delta: str | int) -> None:
    found = statements(price, delta)
    claimed: list[Loss] = []
    if "pure" in found:
        claimed.append(Pure(found["pure"]["epsilon"]["exact"]))
    pair = found["approximate"]
    claimed.append(Approximate(pair["epsilon"]["exact"], pair["delta"]["exact"]))
    claimed.append(ZeroConcentrated(found["zero_concentrated"]["rho"]["exact"]))
    orders = found["renyi"]["orders"].items()
    claimed.append(Renyi({Fraction(order): Fraction(size["exact"]) for order, size in orders}))
    if "gaussian" in found:
        claimed.append(GaussianDP(found["gaussian"]["mu"]["exact"]))
    assert all(price <= loss for loss in claimed if not isinstance(loss, Approximate))
    [stated] = [loss for loss in claimed if isinstance(loss, Approximate)]
    assert price.delta_at(stated.epsilon) <= stated.delta
    assert ("pure" in found) is isinstance(price, Pure)
    assert ("gaussian" in found) is not isinstance(price, ZeroConcentrated)


def test_numbers_to_read_are_never_below_the_exact_ones() -> None:
    numbers: list[dict[str, str]] = []

    def collect(value: Any) -> None:
        if isinstance(value, dict) and "exact" in value:
            numbers.append(value)
        elif isinstance(value, dict):
            for part in value.values():
                collect(part)

    collect(statements(ZeroConcentrated("1/7"), "1e-6", "1/3000000"))
    assert len(numbers) > 8
    assert all(Fraction(found["rounded_up"]) >= Fraction(found["exact"]) for found in numbers)
