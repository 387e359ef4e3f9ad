"""``discreet audit`` and ``discreet replay``: does a mechanism keep its promise, and does the curator?

A replay asks whether the curator tells anything about one person that noise does not hide. ``--side-channels`` adds
whether the last bits of an answer, or its time, tell the inputs apart.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import BAD_INPUT, AsJson, console, counted, refusals, whisper
from discreet.errors import InvalidValue

if TYPE_CHECKING:
    from discreet.audit.audit import AuditSuite
    from discreet.audit.builtin import Case
    from discreet.audit.float_lattice import LatticeReport
    from discreet.audit.replay.replay import ReplayReport
    from discreet.audit.report import AuditReport
    from discreet.audit.timing import TimingReport

__all__ = ["are_quiet", "audit", "replay", "side_channels"]


_VIOLATION = 1


def replay(
    file: Annotated[Path, typer.Argument(help="CSV or Parquet: a file, a folder or a pattern; or a DuckDB file.")],
    policy: Annotated[Path, typer.Argument(help="The policy file.")],
    sql: Annotated[list[str] | None, typer.Option("--sql", help="A question; may be given several times.")] = None,
    questions: Annotated[Path | None, typer.Option(help="A file of questions, each ended by a semicolon.")] = None,
    epsilon: Annotated[str, typer.Option(help="The price of each question.")] = "0.1",
    neighbours: Annotated[int | None, typer.Option(help="How many neighbouring tables to try; 8 by default.")] = None,
    draws: Annotated[int | None, typer.Option(help="Also audit every answer, with this many draws.")] = None,
    table: Annotated[str | None, typer.Option(help="Which table of a DuckDB file to read.")] = None,
    delimiter: Annotated[str | None, typer.Option(help="What separates the fields of a CSV file.")] = None,
    json: AsJson = False,
    html: Annotated[Path | None, typer.Option("--html", help="Write a standalone page.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")] = False,
) -> None:
    """Ask the same questions about a table and its neighbours, and find everything that tells them apart.

    For the owner: it reads the file itself, in temporary folders, and charges nobody. What it prints about what is
    wrong can hold what rows hold. Exit code 1 says that something is wrong, 2 that the input is bad.

    [dim]Example:[/]  discreet replay visits.csv visits.yaml --sql "SELECT ward, COUNT(*) FROM visits GROUP BY ward"
    """
    with refusals("nothing was written", BAD_INPUT):
        from discreet.audit.replay.replay import replay as replay_session
        from discreet.cli.ingest import source_of
        from discreet.cli.output import refuse_overwriting, write_texts

        is_quiet = json
        refuse_overwriting({"--html": html}, None, force)
        source, asked = source_of(file, table, delimiter), _asked(sql, questions)
        with counted(is_quiet) as announce:
            report = replay_session(source, policy, asked, epsilon=epsilon, neighbours=neighbours, announce=announce)
        audits = [] if draws is None else _audits(source, policy, report, epsilon, draws)
        if html is not None:
            write_texts({html: report.to_html()})
        if is_quiet:
            typer.echo(_json(report, audits))
        else:
            console.print(report, *audits, sep="\n")
            if html is not None:
                whisper(f"wrote {html}")
        if not report.is_sound or any(found.violated for found in audits):
            raise typer.Exit(_VIOLATION)


def _audits(source: Any, policy: Path, report: ReplayReport, epsilon: str, draws: int) -> list[AuditReport]:
    """Each answered question from draws, on the neighbour that it moves most."""
    from discreet.audit.end_to_end import end_to_end

    answered = [line.question for line in report.lines if line.claimed]
    return [end_to_end(source, policy, sql, epsilon=epsilon, draws=draws) for sql in dict.fromkeys(answered)]


def _json(report: ReplayReport, audits: list[AuditReport]) -> str:
    from json import dumps

    return dumps(report.to_dict() | {"audits": [found.to_dict() for found in audits]}, ensure_ascii=False, indent=2)


def _asked(sql: list[str] | None, questions: Path | None) -> list[str]:
    listed = [] if questions is None else questions.read_text(encoding="utf-8").split(";")
    found = [*(sql or []), *(text.strip() for text in listed if text.strip())]
    if not found:
        raise InvalidValue("a replay needs a question", "<none>", "pass --sql or --questions")
    return found


_MOST_DRAWS = 100_000


def side_channels(case: Case, draws: int, seconds: float | None) -> list[LatticeReport | TimingReport]:
    """The lattice of the answers, where they are numbers, and the time that they take."""
    from discreet.audit.float_lattice import lattice
    from discreet.audit.mechanism import Batched
    from discreet.audit.timing import timing
    from discreet.mechanisms.measurement import Measurement

    mechanism, inputs = case.mechanism, (case.first, case.second)
    if isinstance(mechanism, Measurement):
        answer: Any = mechanism.release
    else:
        answer = (lambda value: mechanism(value, 1)) if isinstance(mechanism, Batched) else mechanism
    found: list[LatticeReport | TimingReport] = [timing(answer, *inputs)]
    try:
        limits: dict[str, Any] = {"draws": min(draws, _MOST_DRAWS), "seconds": seconds}
        return [lattice(mechanism, *inputs, case.claim, **limits), *found]
    except InvalidValue:  # answers that are no numbers have no lattice
        return found


def are_quiet(found: list[LatticeReport | TimingReport]) -> bool:
    """Whether no channel tells anything."""
    return not any(getattr(one, "depends", False) or getattr(one, "tells", False) for one in found)


_SERVICE_DRAWS = 200_000
_DELTA = "0.001"


def audit(
    what: Annotated[
        str | None,
        typer.Argument(help="module:function, file.py:function, a mechanism of ours, or gallery; all of ours without."),
    ] = None,
    epsilon: Annotated[str | None, typer.Option(help="The ε that is claimed.")] = None,
    delta: Annotated[str | None, typer.Option(help="The δ that is claimed.")] = None,
    first: Annotated[str | None, typer.Option(help="One input, as Python writes it: 0, [1, 2], 'yes'.")] = None,
    second: Annotated[str | None, typer.Option(help="Its neighbour.")] = None,
    batched: Annotated[bool, typer.Option("--batched", help="The function takes (value, size).")] = False,
    draws: Annotated[int | None, typer.Option(help="How many answers to draw, for both inputs together.")] = None,
    false_alarm: Annotated[float, typer.Option(help="Probability of calling a sound mechanism broken.")] = 1e-6,
    seconds: Annotated[float | None, typer.Option(help="The most time for drawing, for each mechanism.")] = 120.0,
    side_channels: Annotated[
        bool, typer.Option("--side-channels", help="Also test whether low-order bits or timing tell the inputs apart.")
    ] = False,
    json: AsJson = False,
    html: Annotated[Path | None, typer.Option("--html", help="Write a standalone page with plots.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")] = False,
) -> None:
    """Audit a mechanism: claimed against observed, exact where its law is known, and from draws.

    Without WHAT every built-in mechanism is audited; gallery shows that broken ones are found. Exit code 1 says that
    a claim is broken, 2 that the input is bad. A file or module that is named is run.

    [dim]Examples:[/]  discreet audit
    discreet audit laplace --epsilon 0.5 --html laplace.html
    discreet audit mine.py:noisy_count --epsilon 1 --first 100 --second 101
    """
    with refusals("nothing was written", BAD_INPUT):
        from discreet.cli.output import refuse_overwriting, write_texts

        refuse_overwriting({"--html": html}, None, force)
        options = {"false_alarm": false_alarm, "seconds": seconds, **({} if draws is None else {"draws": draws})}
        is_quiet = json
        if side_channels and what in (None, "gallery"):
            raise InvalidValue("side channels are measured of one mechanism", what or "<all of ours>", "name it")
        if what is None or what == "gallery":
            report: AuditReport | AuditSuite = _survey(what, epsilon, delta, options, is_quiet)
            leaks = False
        else:
            case = _with_inputs(_case(what, epsilon, delta, batched), first, second)
            report, leaks = _audit(case, side_channels, options, is_quiet)
        if html is not None:
            write_texts({html: report.to_html()})
        if is_quiet:
            typer.echo(report.to_json())
        else:
            console.print(report)
            if html is not None:
                whisper(f"wrote {html}")
        if leaks or not _is_fine(report):
            raise typer.Exit(_VIOLATION)


def _is_fine(report: AuditReport | AuditSuite) -> bool:
    from discreet.audit.mechanism import Verdict
    from discreet.audit.report import AuditReport

    if isinstance(report, AuditReport):
        return report.verdict not in (Verdict.VIOLATION, Verdict.UNSTEADY)
    return report.is_as_expected


def _survey(
    what: str | None, epsilon: str | None, delta: str | None, options: dict[str, Any], is_quiet: bool
) -> AuditSuite:
    from discreet.audit.audit import survey
    from discreet.audit.builtin import builtin_mechanisms
    from discreet.audit.gallery import BROKEN

    with counted(is_quiet) as announce:
        if what == "gallery":
            _refuse_claim(epsilon, delta)
            return survey([exhibit.case for exhibit in BROKEN], "Broken mechanisms", announce=announce, **options)
        cases = builtin_mechanisms(epsilon or 1, delta or _DELTA)
        return survey(cases, "Every built-in mechanism", announce=announce, **{"draws": _SERVICE_DRAWS, **options})


def _with_inputs(case: Case, first: str | None, second: str | None) -> Case:
    inputs = [own if typed is None else _value(typed) for typed, own in ((first, case.first), (second, case.second))]
    if any(value is _MISSING for value in inputs):
        raise InvalidValue("an audit needs two neighbouring inputs", "<none>", "pass --first and --second")
    outcomes = case.outcomes if first is None and second is None else None
    return replace(case, first=inputs[0], second=inputs[1], outcomes=outcomes)


def _audit(case: Case, sides: bool, options: dict[str, Any], is_quiet: bool) -> tuple[AuditReport, bool]:
    """The report, with what side channels say among its notes, and whether one of them leaks."""
    from discreet.audit.audit import audit_case

    with _progress(is_quiet) as progress:
        report = audit_case(case, progress=progress, **options)
    found = side_channels(case, options.get("draws", case.draws), options["seconds"]) if sides else []
    return replace(report, notes=(*report.notes, *map(str, found))), not are_quiet(found)


_MISSING = object()
_OPENING = tuple("[({\"'")


def _case(what: str, epsilon: str | None, delta: str | None, batched: bool) -> Case:
    from discreet.audit.builtin import NAMES, Case, builtin_case, load
    from discreet.audit.gallery import BROKEN
    from discreet.audit.mechanism import Batched
    from discreet.mechanisms.measurement import Measurement
    from discreet.privacy.loss import Pure

    if what in NAMES:
        case = builtin_case(what, epsilon or 1, delta or _DELTA)
        if delta is not None and isinstance(case.claim, Pure):
            raise InvalidValue(f"{what} needs no δ", delta, "leave out --delta")
        return case
    for exhibit in BROKEN:
        if exhibit.name == what:
            _refuse_claim(epsilon, delta)
            return exhibit.case
    found = load(what)
    if isinstance(found, Case):
        return found
    own = found.loss if isinstance(found, Measurement) else None
    return Case(what, Batched(found) if batched else found, _MISSING, _MISSING, _claim(epsilon, delta, own))


def _refuse_claim(epsilon: str | None, delta: str | None) -> None:
    """The gallery says what each of its mechanisms claims."""
    if epsilon is not None or delta is not None:
        rule = "broken mechanisms have claims of their own"
        raise InvalidValue(rule, epsilon or delta, "leave out --epsilon and --delta")


def _claim(epsilon: str | None, delta: str | None, own: Any) -> Any:
    from discreet.privacy.loss import Approximate, Pure

    if epsilon is None and own is not None:
        return own
    if epsilon is None:
        raise InvalidValue(
            "a function's claim must be said", "<none>", "pass --epsilon, and --delta where there is one"
        )
    return Pure(epsilon) if delta is None else Approximate(epsilon, delta)


def _value(typed: str) -> Any:
    try:
        return ast.literal_eval(typed)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        if typed.lstrip()[:1] in _OPENING:
            raise InvalidValue("an input must be a value as Python writes it, or a word", typed, "[3, 4]") from None
        return typed  # a text without quotes


@contextmanager
def _progress(is_quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A bar that counts draws, on a terminal."""
    if is_quiet or not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

    with Progress("drawing", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), transient=True) as bar:
        task = bar.add_task("drawing")
        yield lambda done, total: bar.update(task, completed=done, total=total)
