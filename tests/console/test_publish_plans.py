"""What the page of publications works out without drawing."""

from __future__ import annotations

import io
import tempfile
from dataclasses import replace
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from discreet.anonymize.hierarchies.builders import read_arx_csv
from discreet.anonymize.methods import CheckedRows
from discreet.anonymize.models.registry import RequestedModels
from discreet.anonymize.roles import Role
from discreet.anonymize.table import CodedColumn
from discreet.console.publish import plan as brought_table
from discreet.console.publish.attempts import (
    ReleaseCandidate,
    ReleaseGoals,
    attempts_of,
    column_changes,
    gauge_svg,
    risk_lines,
    spread_rows,
    tried,
    verdict,
)
from discreet.console.publish.plan import (
    Brought,
    ColumnPlan,
    HierarchyPlan,
    brought,
    csv_bytes,
    example,
    hierarchies_of,
    laid_out,
    level_preview,
    parquet_bytes,
    roles_of,
)
from discreet.errors import DiscreetError

CSV = b"name,zip,age,disease\nAda,13053,28,flu\nBo,13068,29,cold\nCy,13053,31,flu\nDi,13068,37,cold\n"


def plans_of(found: Brought) -> dict[str, ColumnPlan]:
    return dict(laid_out(found).plans)


def quiet(share: float, words: str) -> None:
    assert 0 <= share <= 1
    assert words


def test_every_column_that_cannot_become_coarser_is_named() -> None:
    found = brought("people.csv", CSV)
    plans = plans_of(found) | {
        "zip": ColumnPlan(Role.QUASI_IDENTIFYING, HierarchyPlan("intervals", "many")),
        "age": ColumnPlan(Role.QUASI_IDENTIFYING, HierarchyPlan("dates", "month")),
    }
    with pytest.raises(DiscreetError) as caught:
        hierarchies_of(found.table, plans)
    assert [line.partition(":")[0] for line in str(caught.value).splitlines()[1:]] == ["zip", "age"]


# Tables -----------------------------------------------------------------------------------------------------------


def test_a_file_becomes_a_table_and_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = brought("People 2025.csv", CSV)
    assert (found.name, found.table.num_rows, found.table.column_names[0]) == ("People 2025", 4, "name")
    packed = io.BytesIO()
    parquet.write_table(found.table, packed)
    assert brought("../../etc/people.parquet", packed.getvalue()).name == "people"
    assert list(tmp_path.iterdir()) == []


WIDE = ",".join(f"c{number}" for number in range(2001)).encode() + b"\n" + b",".join([b"1"] * 2001)
"""Few bytes, but each column has a price."""


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("a.exe", b"MZ", "must be a .csv, .tsv or .parquet file, got 'a.exe'"),
        ("a.parquet", b"PAR1 no", "readable as Parquet, got 'a.parquet'"),
        ("a.csv", b"\xff\xfe\x00", "UTF-8, got 'a.csv'"),
        ("a.csv", b"", "header, got 'a.csv'"),
        ("a.csv", b"a,a\n1,2\n", "a name of its own"),
        ("a.csv", b"a,b\n", "must have rows"),
        ("a.csv", b"a,b\n1\n", "the same columns"),
        ("a.csv", WIDE, "at most 2,000 columns"),
        ("a.csv", b'"a\nb",' + WIDE, "at most 2,000 columns"),
        ("a.csv", b"x" * 200_000 + b",b\n1,2\n", "names of columns that can be read, got 'a.csv'"),
    ],
)
def test_what_is_no_table_is_refused_in_words_about_the_file(
    file: str, content: bytes, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(DiscreetError) as refusal:
        brought(file, content)
    assert words in str(refusal.value)
    assert str(tmp_path) not in str(refusal.value)
    assert list(tmp_path.iterdir()) == []


def test_a_packed_file_that_unpacks_to_too_much_is_refused_by_its_footer(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = io.BytesIO()
    parquet.write_table(pa.table({"a": pa.nulls(1_000_000, pa.int64())}), packed)
    monkeypatch.setattr(brought_table, "MOST_CELLS", 999_999)
    monkeypatch.setattr(brought_table, "arrow_table", lambda path: pytest.fail("it was unpacked"))
    assert len(packed.getvalue()) < 10_000
    with pytest.raises(DiscreetError, match="at most 999,999 cells"):
        brought("bomb.parquet", packed.getvalue())


def test_a_file_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(brought_table, "LARGEST_FILE", 50)
    with pytest.raises(DiscreetError, match="at most 50 bytes"):
        brought("a.csv", CSV)


# Roles and hierarchies --------------------------------------------------------------------------------------------


def test_the_first_plan_guesses_roles_and_takes_what_it_does_not_know_for_known_to_others() -> None:
    roles = roles_of(plans_of(example()))
    assert roles.identifying == ("patient",)
    assert roles.quasi == ("age", "zip", "sex")
    assert roles.sensitive == ("diagnosis",)
    assert roles.insensitive == ()


def test_the_first_hierarchies_fit_their_columns() -> None:
    days = [date(2024, 1 + row % 12, 1 + row % 28) for row in range(60)]
    table = pa.table({"day": days, "pay": [20_000 + 531 * row for row in range(60)], "town": ["Ulm", "Bonn"] * 30})
    plans = plans_of(Brought("t", table))
    assert plans["day"].hierarchy.kind == "dates"
    assert plans["pay"].hierarchy == HierarchyPlan("intervals", "2000, 4000, 8000")
    assert plans["town"].hierarchy.kind == "keep or hide"
    everything = {name: plan.with_role(Role.QUASI_IDENTIFYING) for name, plan in plans.items()}
    assert set(hierarchies_of(table, everything)) == {"day", "pay", "town"}


def test_a_preview_shows_some_values_at_every_level() -> None:
    column = CodedColumn.of("zip", ["13053", "13068", "14850"])
    found = level_preview(column, HierarchyPlan("mask"))
    assert found.rows[0] == ("13053", "1305*", "130**", "13***", "1****", "*")
    assert found.groups == (3, 3, 2, 2, 1, 1)
    assert not found.problem


def test_a_preview_names_the_values_that_a_file_lacks(tmp_path: Path) -> None:
    (tmp_path / "age.csv").write_text("28;20s\n29;20s\n")
    file = read_arx_csv(tmp_path / "age.csv")
    found = level_preview(CodedColumn.of("age", [28, 31, 37, None]), HierarchyPlan("file", file=file))
    assert found.offending == ("31", "37", "(missing)")
    assert "it lacks 31, 37, (missing)" in found.problem
    assert level_preview(CodedColumn.of("age", [28, 29]), HierarchyPlan("file", file=file)).groups == (2, 1)


@pytest.mark.parametrize(
    ("plan", "offending", "words"),
    [
        (HierarchyPlan("intervals", "5"), ("old", "young"), "made of numbers"),
        (HierarchyPlan("dates"), ("old", "young"), "made of dates"),
        (HierarchyPlan("ordered", "many"), (), "numbers with commas"),
        (HierarchyPlan("ordered", "inf"), (), "numbers with commas"),
        (HierarchyPlan("file"), (), "bring the file"),
    ],
)
def test_a_preview_says_what_stands_in_the_way(plan: HierarchyPlan, offending: tuple[str, ...], words: str) -> None:
    found = level_preview(CodedColumn.of("age", ["young", "old", "old"]), plan)
    assert found.offending == offending
    assert words in found.problem


# Candidates -------------------------------------------------------------------------------------------------------


def test_every_method_gets_what_it_understands_and_candidates_come_least_loss_first() -> None:
    table = example()
    asked = ReleaseGoals(methods=("optimal", "local", "taxonomy", "mondrian", "microaggregate"), also_stricter=True)
    small = Brought(table.name, table.table.slice(0, 400))
    attempts = attempts_of(small, plans_of(table), asked)
    assert [one.title for one in attempts][:3] == ["optimal", "optimal, k = 10", "optimal, k = 20"]
    found = tried(attempts, small.name, quiet)
    losses = [one.loss for one in found.candidates]
    assert losses == sorted(losses)
    assert len(losses) == 12
    assert set(found.refusals) == {"microaggregate", "microaggregate, k = 10", "microaggregate, k = 20"}
    for one in found.candidates:
        least = int(one.title.partition("k = ")[2] or 5)
        assert one.highest_risk <= 1 / least
        assert "patient" not in one.release.table.column_names


def test_a_release_that_breaks_its_models_is_no_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = lambda method, job, progress: CheckedRows(job.table.drop_columns(["patient"]), "")  # noqa: E731
    monkeypatch.setattr("discreet.console.publish.attempts.release_of", broken)
    table = example()
    attempts = attempts_of(table, plans_of(table), ReleaseGoals(methods=("optimal",)))
    found = tried(attempts, table.name, quiet)
    assert found.best is None
    assert "checked again" in found.refusals["optimal"]


def test_what_cannot_be_tried_is_refused_before_the_work() -> None:
    table = brought("people.csv", CSV)
    plans = plans_of(table)
    nobody = {name: ColumnPlan(Role.INSENSITIVE) for name in plans}
    for wrong, asked, words in (
        (plans, ReleaseGoals(methods=()), "a method to try"),
        (nobody, ReleaseGoals(), "a quasi-identifier"),
        (plans, ReleaseGoals(wanted=RequestedModels()), "under a model"),
        ({**plans, "disease": ColumnPlan(Role.INSENSITIVE)}, ReleaseGoals(), "a sensitive column"),
        ({**plans, "age": replace(plans["age"], hierarchy=HierarchyPlan("dates"))}, ReleaseGoals(), "made of dates"),
    ):
        with pytest.raises(DiscreetError, match=words):
            attempts_of(table, wrong, asked)


# Looking at a candidate -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def candidate() -> ReleaseCandidate:
    table = example()
    found = tried(attempts_of(table, plans_of(table), ReleaseGoals(methods=("optimal",))), table.name, quiet)
    assert found.best is not None
    return found.best


def test_what_changed_is_said_of_every_column(candidate: ReleaseCandidate) -> None:
    changes = {one.name: one for one in column_changes(candidate, example().table.column_names)}
    assert changes["patient"].words == "left out"
    assert changes["age"].words.startswith("coarser: ")
    assert 0 < changes["age"].loss < 1
    assert changes["diagnosis"].role is Role.SENSITIVE


def test_rows_to_look_at_come_from_everywhere_and_are_cut_short() -> None:
    table = pa.table({"a": list(range(100)), "b": ["x" * 500] * 100})
    rows = spread_rows(table, 8)
    assert [row[0] for row in rows] == ["0", "14", "28", "42", "57", "71", "85", "99"]
    assert all(len(row[1]) == 60 for row in rows)
    assert len(spread_rows(table.slice(0, 3), 8)) == 3


def test_risks_are_held_against_the_limit(candidate: ReleaseCandidate) -> None:
    risks = candidate.report.risks
    assert risks.prosecutor.highest == pytest.approx(1 / 6)
    assert [line.is_within for line in risk_lines(risks, 1 / 6)] == [True] * 4
    assert [line.is_within for line in risk_lines(risks, 0.1)] == [False, True, False, True]
    assert verdict(risks, 1 / 6).startswith("Within")
    assert verdict(risks, 0.1).startswith("Above the limit: the row that is easiest to find is found with 16.7 %")
    assert "Highest risk 16.7 %, limit 10.0 %" in gauge_svg(risks.prosecutor.highest, 0.1)


def test_a_release_is_the_same_rows_in_every_file(candidate: ReleaseCandidate) -> None:
    table = candidate.release.table
    assert parquet.read_table(io.BytesIO(parquet_bytes(table))).equals(table)
    assert csv_bytes(table).decode().count("\n") == table.num_rows + 1
    with pytest.raises(DiscreetError, match="take Parquet"):
        csv_bytes(pa.table({"a": [[1, 2]]}))


def test_numbers_can_be_averaged_beside_hierarchies_that_others_use() -> None:
    table = Brought(
        "sizes", pa.table({"height": [150 + row % 40 for row in range(90)], "weight": list(range(50, 140))})
    )
    found = tried(
        attempts_of(table, plans_of(table), ReleaseGoals(RequestedModels(k=5), methods=("microaggregate",))),
        "sizes",
        quiet,
    )
    assert found.refusals == {}
    assert found.best is not None
    assert found.best.highest_risk <= 1 / 5


def test_models_that_compare_with_rows_that_are_left_out_need_the_original(candidate: ReleaseCandidate) -> None:
    assert candidate.left_out > 0
    assert not candidate.needs_reference
    table = example()
    for suppression in (0.0, 0.02):
        asked = ReleaseGoals(RequestedModels(k=5, t=0.6), suppression, methods=("optimal",))
        best = tried(attempts_of(table, plans_of(table), asked), table.name, quiet).best
        assert best is not None
        assert best.needs_reference == (best.left_out > 0) == (suppression > 0)
