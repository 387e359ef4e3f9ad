"""``discreet audit``: does a mechanism keep its promise?"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.counting import counted
from discreet.cli.options import AsJson
from discreet.cli.output import BAD_INPUT, console, refusals, whisper
from discreet.errors import InvalidValue

if TYPE_CHECKING:
    from discreet.audit.case import Case
    from discreet.audit.report import AuditReport
    from discreet.audit.survey import Survey

__all__ = ["audit"]

_VIOLATION = 1
_HOUSE_DRAWS = 200_000
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
        from discreet.cli.whole_files import refuse_overwriting, write_texts

        refuse_overwriting({"--html": html}, None, force)
        options = {"false_alarm": false_alarm, "seconds": seconds, **({} if draws is None else {"draws": draws})}
        is_quiet = json
        if side_channels and what in (None, "gallery"):
            raise InvalidValue("side channels are measured of one mechanism", what or "<all of ours>", "name it")
        if what is None or what == "gallery":
            report: AuditReport | Survey = _surveyed(what, epsilon, delta, options, is_quiet)
            leaks = False
        else:
            case = _with_inputs(_case(what, epsilon, delta, batched), first, second)
            report, leaks = _audited(case, side_channels, options, is_quiet)
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


def _is_fine(report: AuditReport | Survey) -> bool:
    from discreet.audit.report import AuditReport
    from discreet.audit.verdict import Verdict

    if isinstance(report, AuditReport):
        return report.verdict not in (Verdict.VIOLATION, Verdict.UNSTEADY)
    return report.is_as_expected


def _surveyed(
    what: str | None, epsilon: str | None, delta: str | None, options: dict[str, Any], is_quiet: bool
) -> Survey:
    from discreet.audit.gallery import BROKEN
    from discreet.audit.house import house
    from discreet.audit.survey import survey

    with counted(is_quiet) as told:
        if what == "gallery":
            _refuse_claim(epsilon, delta)
            return survey([exhibit.case for exhibit in BROKEN], "Broken mechanisms", told=told, **options)
        cases = house(epsilon or 1, delta or _DELTA)
        return survey(cases, "Every built-in mechanism", told=told, **{"draws": _HOUSE_DRAWS, **options})


def _with_inputs(case: Case, first: str | None, second: str | None) -> Case:
    inputs = [own if typed is None else _value(typed) for typed, own in ((first, case.first), (second, case.second))]
    if any(value is _MISSING for value in inputs):
        raise InvalidValue("an audit needs two neighbouring inputs", "<none>", "pass --first and --second")
    outcomes = case.outcomes if first is None and second is None else None
    return replace(case, first=inputs[0], second=inputs[1], outcomes=outcomes)


def _audited(case: Case, sides: bool, options: dict[str, Any], is_quiet: bool) -> tuple[AuditReport, bool]:
    """The report, with what side channels say among its notes, and whether one of them leaks."""
    from discreet.audit.audit import audit_case
    from discreet.cli.side_channels import are_quiet, side_channels

    with _progress(is_quiet) as progress:
        report = audit_case(case, progress=progress, **options)
    found = side_channels(case, options.get("draws", case.draws), options["seconds"]) if sides else []
    return replace(report, notes=(*report.notes, *map(str, found))), not are_quiet(found)


_MISSING = object()
_OPENING = tuple("[({\"'")


def _case(what: str, epsilon: str | None, delta: str | None, batched: bool) -> Case:
    from discreet.audit.case import Case
    from discreet.audit.gallery import BROKEN
    from discreet.audit.house import NAMES, house_case
    from discreet.audit.mechanism import Batched
    from discreet.audit.naming import load
    from discreet.mechanisms.measurement import Measurement
    from discreet.privacy.loss import Pure

    if what in NAMES:
        case = house_case(what, epsilon or 1, delta or _DELTA)
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
