"""Results: estimates that are right on average, intervals that cover, and answers for surveys that nobody answered."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import apsw
import pytest
from rich.console import Console

from discreet.errors import InvalidInput
from discreet.noise.source import ReplayableSource
from discreet.reports.terminal import document_text
from discreet.survey.results import ResultRequest, ResultRow, Results, answers_needed, results_of
from discreet.survey.store import Records, SurveyStore, hash_of
from discreet.survey.survey import best_oracle, mean
from tests.survey.serving import made

CROWD = 3000


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> SurveyStore:
    """A third smokes; a tenth each walks and cycles, two tenths take the train; everybody slept 6 or 8 hours."""
    here = made(tmp_path_factory.mktemp("crowds") / "crowd", invitations=CROWD)
    store = here.store()
    held = [
        ["yes" if k % 3 == 0 else "no" for k in range(CROWD)],
        [("on foot", "bicycle", "train", "train", *["car"] * 6)[k % 10] for k in range(CROWD)],
        [6 + 2 * (k % 2) for k in range(CROWD)],
    ]
    records, rows = Records(store.survey), [b""] * CROWD
    for question, answers in zip(store.survey.questions, held, strict=True):
        reports = question.randomizer.privatize(answers, source=ReplayableSource(question.name))
        columns = [reports.columns[field.name] for field in question.terms.layout]
        rows = [row + b"".join(column[k].tobytes() for column in columns) for k, row in enumerate(rows)]
    assert len(rows[0]) == records.size
    with apsw.Connection(str(here.folder / "survey.db")) as database:  # at once: each take waits for the disk
        database.executemany("INSERT INTO answer VALUES (?, ?)", zip(map(hash_of, here.tokens), rows, strict=True))
    return store


def test_estimates_are_near_the_truth_and_intervals_hold_it(crowd: SurveyStore) -> None:
    """With one fixed crowd and fixed noise nothing here is left to chance."""
    found = results_of(crowd, ResultRequest.of("0.99", together=True))
    truth = {"no": 2 / 3, "yes": 1 / 3, "on foot": 0.1, "bicycle": 0.1, "train": 0.2, "car": 0.6, "mean": 7.0}
    rows = [row for finding in found.findings for row in finding.rows]
    assert [row.label for row in rows] == list(truth)
    for row in rows:
        assert row.low <= truth[row.label] <= row.high
        assert abs(row.value - truth[row.label]) < (0.5 if row.label == "mean" else 0.08)


def test_intervals_that_hold_at_once_are_wider(crowd: SurveyStore) -> None:
    alone, together = (results_of(crowd, ResultRequest.of(together=held)) for held in (False, True))
    for one, other in zip(alone.findings, together.findings, strict=True):
        for row, wider in zip(one.rows, other.rows, strict=True):
            assert wider.low <= row.low <= row.high <= wider.high
        assert one.needed < other.needed


def test_all_views_tell_the_same(crowd: SurveyStore) -> None:
    found = results_of(crowd, ResultRequest.of(within="0.02"))
    text, html, data = shown(found), found.to_html(), found.to_dict()
    assert json.loads(json.dumps(data)) == data
    assert data["answered"] == CROWD
    yes = data["questions"]["smokes"]["estimates"][1]
    for view in (text, html):
        assert "3,000 of 3,000 invited have answered" in view
        assert f"{100 * yes['value']:.1f} %" in view
        more = data["questions"]["smokes"]["more"]
        assert f"about {more:,} more answers, whatever they are, make it ± 2 points" in view


def shown(results: Results) -> str:
    console = Console(width=100, file=io.StringIO())
    console.print(results)
    return " ".join(console.file.getvalue().split())  # type: ignore[attr-defined]


def test_nobody_has_answered_is_an_answer(tmp_path: Path) -> None:
    found = results_of(made(tmp_path / "empty").store(), ResultRequest.of())
    assert found.answered == 0
    assert all(finding.rows == () and finding.needed > 0 for finding in found.findings)
    assert "Nobody of 20 invited has answered yet." in shown(found)
    assert "Nobody of 20 invited has answered yet." in found.to_html()


def test_words_of_the_owner_are_escaped(tmp_path: Path) -> None:
    question = "{ask: <script>alert(1)</script>, type: choice, choices: [<b>, '&', c]}"
    here = made(tmp_path / "odd", f"title: T\nepsilon: 1\nquestions:\n  q: {question}\n")
    store = here.store()
    store.take(here.tokens[0], b"\x00")
    page = results_of(store, ResultRequest.of()).to_html()
    assert "<script>" not in page
    assert "&lt;b&gt;" in page


@pytest.mark.parametrize("confidence", ["0", "1", "x", "1e-400", "0.001", "1e400", f"0.{'9' * 400}"])
def test_a_confidence_that_is_none_is_refused(confidence: str) -> None:
    with pytest.raises(InvalidInput):
        ResultRequest.of(confidence)


@pytest.mark.parametrize("confidence", ["0.01", f"0.{'9' * 12}"])
@pytest.mark.parametrize("together", [False, True])
def test_every_confidence_that_is_taken_has_intervals(crowd: SurveyStore, confidence: str, together: bool) -> None:
    for finding in results_of(crowd, ResultRequest.of(confidence, together=together)).findings:
        assert finding.needed > 0
        assert all(row.low <= row.high for row in finding.rows)


@pytest.mark.parametrize("within", ["0", "-1", "1", "x"])
def test_a_wanted_error_that_is_none_is_refused(within: str) -> None:
    with pytest.raises(InvalidInput):
        ResultRequest.of(within=within)


@pytest.mark.parametrize("within", ["0.1", "0.02"])
@pytest.mark.parametrize(
    "randomizer",
    [
        best_oracle(1, ["no", "yes"]),
        best_oracle(1, list("abcdefgh")),
        mean("duchi", 1, 0, 12),
        mean("hybrid", 2, 0, 12),
    ],
    ids=repr,
)
def test_as_many_answers_as_needed_make_intervals_about_that_short(randomizer: object, within: str) -> None:
    """Half of an interval is the wanted error, up to what exact intervals cost and one draw moves them: 15 %."""
    wanted = Fraction(within)
    n = answers_needed(randomizer, wanted, Fraction(19, 20))  # type: ignore[arg-type]
    domain = randomizer.terms.domain  # type: ignore[attr-defined]
    held = [domain[k % len(domain)] for k in range(n)] if isinstance(domain, tuple) else [6] * n
    found = randomizer.estimate(randomizer.privatize(held, source=ReplayableSource(within)))  # type: ignore[attr-defined]
    if isinstance(domain, tuple):
        low, high = found.intervals()[0]
        half = (high - low) / 2
    else:
        low, high = found.interval()
        half = (high - low) / 2 / 12
    assert 0.4 * float(wanted) < half < 1.15 * float(wanted)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ((1.167, 1.05, 1.28), (1.0, 0.883, 1.0)),
        ((-0.02, -0.05, 0.01), (0.0, 0.0, 0.03)),
        ((0.98, 0.9, 1.06), (0.98, 0.9, 1.0)),
        ((0.4, 0.3, 0.5), (0.4, 0.3, 0.5)),
        ((-0.3, -0.4, -0.2), (0.0, 0.0, 0.1)),
    ],
)
def test_what_is_shown_is_possible_and_no_surer_than_what_was_found(
    raw: tuple[float, float, float], expected: tuple[float, float, float]
) -> None:
    seen = ResultRow("x", *raw).within(0.0, 1.0)
    assert (seen.value, seen.low, seen.high) == pytest.approx(expected)
    assert seen.high - seen.low > 0


def test_no_view_shows_an_impossible_value_and_each_has_the_raw_ones(crowd: SurveyStore) -> None:
    found = results_of(crowd, ResultRequest.of())
    smokes, travels, sleeps = found.findings
    impossible = Results(
        found.survey,
        found.invited,
        found.answered,
        found.ask_request,
        (
            replace(smokes, rows=(ResultRow("no", -0.167, -0.3, -0.03), ResultRow("yes", 1.167, 1.03, 1.3))),
            travels,
            replace(sleeps, rows=(ResultRow("mean", 12.52, 11.9, 13.1),)),
        ),
    )
    text, html, data = shown(impossible), impossible.to_html(), impossible.to_dict()
    before_raw = "".join(part.split("<details")[0] for part in html.split("</details>"))
    for view in (text, before_raw):
        assert "116.7" not in view
        assert "12.52" not in view
        assert "100.0 %" in view
    assert "116.7 %" in html
    assert "12.52" in html
    printed = io.StringIO()
    Console(file=printed, width=120).print(document_text(impossible.document(raw=True)))
    assert "116.7 %" in printed.getvalue()
    yes = data["questions"]["smokes"]["estimates"][1]
    assert (yes["value"], yes["high"], yes["raw"]["value"]) == (1.0, 1.0, 1.167)
    mean_of = data["questions"][sleeps.question.name]["estimates"][0]
    assert mean_of["value"] <= float(sleeps.question.terms.domain.upper) < mean_of["raw"]["value"]  # type: ignore[union-attr]
