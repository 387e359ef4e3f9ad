"""Many threads on one curator, and several curators on one folder, as a service with workers has them."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.curator.curator import Curator
from discreet.curator.ledger.verify import verify
from discreet.curator.policies import Policies
from discreet.errors import BudgetExceeded, InvalidInput, StoreError
from discreet.privacy.loss import Pure
from tests.curator.test_shared_ledger import in_threads

ROWS = pa.table({"age": list(range(50)), "ward": ["AB"[k % 2] for k in range(50)]})


def policy(
    name: str = "visits", budget: Budget | None = None, analysts: dict[str, Budget | None] | None = None
) -> Table:
    columns = (
        Column("age", ColumnType.INTEGER, lower=0, upper=110),
        Column("ward", ColumnType.TEXT, keys=("A", "B"), constant_per_unit=True),
    )
    return Table(name, columns, budget=budget or Budget(3), analysts=analysts or {})


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Curator, Curator]:
    first = Curator(tmp_path)
    first.protect(ROWS, policy())
    return first, Curator(tmp_path)


# Threads.


def test_sixteen_threads_ask_explain_and_look_at_the_budget_at_once(tmp_path: Path) -> None:
    analysts = [f"analyst {k}" for k in range(8)]
    curator = Curator(tmp_path, shared_answers=False)
    curator.protect(ROWS, policy(budget=Budget(1), analysts=dict.fromkeys(analysts, Budget(1))))
    counts: Counter[str] = Counter()
    done = threading.Event()

    def ask(who: str) -> None:
        for k in range(5):
            ward = "" if k % 2 else " WHERE ward = 'A'"
            try:
                answer = curator.ask(
                    f"SELECT COUNT(*) AS n, SUM(age) AS s FROM visits{ward}", f"0.0{k + 1}", analyst=who
                )
                assert answer.charged
                counts["answered"] += 1
            except BudgetExceeded:
                counts["refused"] += 1

    def look() -> None:
        while not done.is_set():
            assert curator.explain("SELECT ward, AVG(age) FROM visits GROUP BY ward", "0.1").price == Pure("0.1")
            found = curator.budget()
            spent = [found[f"visits/{who}"]["spent"].epsilon for who in analysts]
            assert found["visits"]["spent"].epsilon <= 1
            assert sum(spent) * 100 % 1 == 0  # whole hundredths: no charge is seen in part
            curator.refresh()

    def ask_all() -> None:
        failed = in_threads(*[lambda who=who: ask(who) for who in analysts])  # type: ignore[misc]
        done.set()
        assert not failed, failed

    failed = in_threads(ask_all, *[look] * 8)
    assert not failed
    assert counts["answered"] + counts["refused"] == 40
    assert counts["refused"] > 0
    found = curator.budget()
    assert sum(found[f"visits/{who}"]["spent"].epsilon for who in analysts) == found["visits"]["spent"].epsilon
    assert found["visits"]["spent"].epsilon > 1 - Pure("0.05").epsilon
    assert sum(1 for entry in curator.ledger.entries() if entry.body["kind"] == "answer") == counts["answered"]
    assert verify(tmp_path).is_sound


# Several processes: what one changes, the others see.


def test_tables_and_analysts_of_another_curator_are_seen(pair: tuple[Curator, Curator]) -> None:
    owner, worker = pair
    owner.protect(ROWS, policy("more"))
    owner.allow("visits", "ann", Budget(1))
    assert worker.ask("SELECT COUNT(*) FROM visits", epsilon=1, analyst="ann").charged
    assert worker.ask("SELECT COUNT(*) FROM more", epsilon=1).charged
    owner.disallow("visits", "ann")
    attempts: list[Callable[[], object]] = [
        lambda: worker.ask("SELECT COUNT(*) FROM visits", epsilon=1, analyst="ann"),
        lambda: worker.ask_all(["SELECT COUNT(*) FROM visits"], epsilon=1, analyst="ann"),
        lambda: worker.explain("SELECT COUNT(*) FROM visits", epsilon=1, analyst="ann"),
        lambda: worker.suggest_bounds("visits", "age", epsilon=1, analyst="ann"),
    ]
    for attempt in attempts:
        with pytest.raises(InvalidInput, match="named in the policy"):
            attempt()


@pytest.mark.parametrize("letters", ["x", "é", "🦆", "./"])
@pytest.mark.some(2)
def test_a_table_with_a_long_name_is_seen_like_others(letters: str, tmp_path: Path) -> None:
    name = letters * (150 // len(letters))
    Curator(tmp_path).protect(ROWS, policy(name))
    assert Curator(tmp_path).ask(f'SELECT COUNT(*) FROM "{name}"', "0.1").charged


def test_what_two_owners_change_at_once_is_all_there(pair: tuple[Curator, Curator]) -> None:
    def allow(curator: Curator, letter: str) -> None:
        for k in range(6):
            curator.allow("visits", f"{letter}{k}", Budget(1))

    pairs = [(curator, letter) for curator, letters in zip(pair, ("ab", "cd"), strict=True) for letter in letters]
    assert not in_threads(*[lambda c=c, x=x: allow(c, x) for c, x in pairs])  # type: ignore[misc]
    for curator in pair:
        curator.refresh()
        assert len(curator.catalog.table("visits").analysts) == 24
    assert len(pair[0].budget()) == 25
    assert verify(pair[0].folder).is_sound


def test_nothing_is_read_again_while_nothing_changes(
    pair: tuple[Curator, Curator], monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = []
    read = Policies.read
    monkeypatch.setattr(Policies, "read", lambda policies: reads.append(1) or read(policies))
    catalog = pair[1].catalog
    for _ in range(3):
        pair[1].refresh()
    assert pair[1].catalog is catalog
    assert not reads
    pair[0].allow("visits", "ann")
    reads.clear()
    assert not in_threads(*[pair[1].refresh] * 8)
    assert reads == [1]


def test_a_policy_that_cannot_be_read_stops_every_question_until_it_is_mended(pair: tuple[Curator, Curator]) -> None:
    [file] = (pair[0].folder / "policies").glob("*.yaml")
    text = file.read_text(encoding="utf-8")
    for broken in ("table: visits\nunit: [", text.replace("epsilon: 3", "epsilon: 3, delta: 1e-6")):
        file.write_text(broken, encoding="utf-8")
        for _ in range(2):
            with pytest.raises(StoreError) as refusal:
                pair[1].refresh()
            assert str(refusal.value).startswith("the policies must be readable and fit the ledger; ")
            assert refusal.value.__cause__ is None
        time.sleep(0.01)  # so that the times of the files differ
    file.write_text(text, encoding="utf-8")
    pair[1].refresh()
    assert pair[1].ask("SELECT COUNT(*) FROM visits", epsilon=1).charged


def test_a_table_without_an_account_cannot_be_afforded(pair: tuple[Curator, Curator]) -> None:
    """Another process has written the policy and not yet opened the account, or somebody wrote the file by hand."""
    owner, worker = pair
    owner.protect(ROWS, policy("more"))
    folder = owner.folder / "policies"
    text = (folder / "visits.yaml").read_text(encoding="utf-8") + "analysts:\n  eve: {epsilon: 1}\n"
    (folder / "visits.yaml").write_text(text, encoding="utf-8")
    worker.refresh()
    assert not worker.explain("SELECT COUNT(*) FROM visits", epsilon="0.1", analyst="eve").affordable
    with pytest.raises(InvalidInput, match="existing account"):
        worker.ask("SELECT COUNT(*) FROM visits", epsilon="0.1", analyst="eve")


# Publications.


def test_publications_are_listed_by_every_curator(pair: tuple[Curator, Curator]) -> None:
    first = pair[0].record_publication(name="wards", approved_by="olga", sha256="ab" * 32, statement={"k": 5})
    again = pair[1].record_publication(name="wards", approved_by="otto", sha256="ab" * 32, statement={})
    assert again == first
    assert pair[1].publications() == [first]
    assert (first.loss, first.approved_by, first.statement) == ("infinite", "olga", {"k": 5})


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"approved_by": "_"},
        {"sha256": "AB" * 32},
        {"sha256": "ab"},
        {"sha256": 7},
        {"statement": {"x": float("nan")}},
        {"statement": {"x": object()}},
        {"statement": {"x": "\ud800"}},
        {"statement": []},
        {"statement": {"x": "y" * 1_000_001}},
    ],
)
@pytest.mark.some(3)
def test_a_publication_that_cannot_be_written_down_is_refused(
    pair: tuple[Curator, Curator], wrong: dict[str, object]
) -> None:
    fine: dict[str, object] = {"name": "wards", "approved_by": "olga", "sha256": "ab" * 32, "statement": {}}
    before = pair[0].ledger.head()
    with pytest.raises(InvalidInput):
        pair[0].record_publication(**(fine | wrong))  # type: ignore[arg-type]
    assert pair[0].ledger.head() == before
