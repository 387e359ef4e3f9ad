"""``discreet explain`` and ``discreet ask``: the price before, the answer after.

``discreet ask --rehearse`` answers on made-up rows, with a curator or with policy files alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import (
    DEFAULT_FOLDER,
    Analyst,
    AsJson,
    Folder,
    Sql,
    SqlFile,
    emit,
    opened,
    refusals,
    show_answer,
    show_explanation,
    sql_of,
)
from discreet.errors import InvalidValue

if TYPE_CHECKING:
    from discreet.curator.answers.answer import Answer

__all__ = ["ask", "check_rehearsal", "explain", "rehearsed"]


def check_rehearsal(rehearse: bool, policies: Sequence[Path] | None, certificate: Path | None) -> None:
    """Refuse options that do not go together."""
    if rehearse and certificate is not None:
        raise InvalidValue("a rehearsal has no certificate", str(certificate), "leave --certificate out")
    if policies and not rehearse:
        raise InvalidValue("policy files alone can be rehearsed, not asked", str(policies[0]), "add --rehearse")


def rehearsed(
    folder: Path,
    policies: Sequence[Path],
    sql: str,
    terms: Mapping[str, Any],
    confidence: float,
    analyst: str | None,
) -> Answer:
    """The answer on rows made up from the policies that are named, or from those of the curator in ``folder``."""
    if not policies:
        return opened(folder).rehearse(sql, **terms, confidence=confidence, analyst=analyst)
    if analyst is not None:
        raise InvalidValue("a rehearsal of policy files has no analysts", analyst, "leave --analyst or --policy out")
    from discreet.curator.rehearsal.rehearsal import rehearse

    return rehearse(policies, sql, **terms, confidence=confidence)


AsOf = Annotated[
    str | None, typer.Option("--as-of", help="The day that CURRENT_DATE means, such as 2026-02-16; or a moment in UTC.")
]
_PICTURES = (".png", ".svg", ".pdf")


def explain(
    sql: Sql = None,
    epsilon: Annotated[
        str | None, typer.Option("--epsilon", "-e", help="The price you have in mind; 0.5 if left out.")
    ] = None,
    within: Annotated[float | None, typer.Option(help="The wanted error instead; the price follows.")] = None,
    part: Annotated[str | None, typer.Option(help="A part of the budget instead, such as 1/4.")] = None,
    as_of: AsOf = None,
    file: SqlFile = None,
    folder: Folder = DEFAULT_FOLDER,
    analyst: Analyst = None,
    as_json: AsJson = False,
) -> None:
    """Say what a question would cost and how good the answer would be. Reads no data and costs nothing.

    [dim]Example:[/]  discreet explain "SELECT ward, COUNT(*) FROM visits GROUP BY ward" -e 0.5
    [dim]Example:[/]  discreet explain -f question.sql --within 20 --json
    [dim]Example:[/]  discreet explain -f question.sql --part 1/4
    """
    with refusals():
        price = "0.5" if epsilon is None and within is None and part is None else epsilon
        found = opened(folder).explain(sql_of(sql, file), price, within=within, part=part, as_of=as_of, analyst=analyst)
        if as_json:
            emit(found.to_dict())
        else:
            show_explanation(found)


def ask(
    sql: Sql = None,
    epsilon: Annotated[
        str | None, typer.Option("--epsilon", "-e", help="The price; or say --within or --part.")
    ] = None,
    within: Annotated[float | None, typer.Option(help="The wanted error, as in ± 20; the price follows.")] = None,
    part: Annotated[
        str | None, typer.Option(help="A part of the budget, such as 1/4, with the noise that is better for it.")
    ] = None,
    as_of: AsOf = None,
    file: SqlFile = None,
    folder: Folder = DEFAULT_FOLDER,
    analyst: Analyst = None,
    confidence: Annotated[float, typer.Option(help="Confidence of the error bars, between 0 and 1.")] = 0.95,
    certificate: Annotated[
        Path | None, typer.Option(help="Write the signed certificate here, for discreet certificate.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the answer into this file: .png, .svg or .pdf.")] = None,
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, with the ends of the error bars.")] = False,
    rehearse: Annotated[
        bool, typer.Option("--rehearse", help="Answer on rows made up from the policy: free, and without reading data.")
    ] = False,
    policy: Annotated[
        list[Path] | None, typer.Option(help="With --rehearse: policy files, when there is no curator yet.")
    ] = None,
) -> None:
    """Ask a question and spend its price; a question that was asked before is free.

    [dim]Example:[/]  discreet ask "SELECT ward, AVG(age) FROM visits GROUP BY ward" -e 0.5
    [dim]Example:[/]  discreet ask -f question.sql --within 20 --csv > answer.csv
    [dim]Example:[/]  discreet ask -f question.sql --part 1/4 --as-of 2026-02-16
    [dim]Example:[/]  echo "SELECT COUNT(*) FROM visits" | discreet ask - -e 0.1 --json
    """
    with refusals("a price that was charged by then stays charged; ask again, and the same question costs no more"):
        terms: dict[str, Any] = {"epsilon": epsilon, "within": within, "part": part}
        given = [name for name, value in terms.items() if value is not None]
        if len(given) != 1:
            rule, remedy = (
                "a question has a price, a wanted error or a part of the budget",
                "pass -e 0.5 or --within 20",
            )
            raise InvalidValue(rule, f"<{' and '.join(given) or 'none of them'}>", remedy)
        if as_json and as_csv:
            raise InvalidValue("an answer is printed in one form", "<both>", "pass --json or --csv")
        question, terms["as_of"] = sql_of(sql, file), as_of
        if plot is not None:
            _check_picture(plot)
        check_rehearsal(rehearse, policy, certificate)
        if rehearse:
            answer = rehearsed(folder, policy or (), question, terms, confidence, analyst)
        else:
            answer = opened(folder).ask(question, **terms, analyst=analyst, confidence=confidence)
        _print(answer, as_json, as_csv)
        if certificate is not None:
            certificate.write_text(json.dumps(answer.certificate, ensure_ascii=False, indent=1) + "\n", "utf-8")
        if plot is not None:
            _draw(answer, plot)


def _print(answer: Answer, as_json: bool, as_csv: bool) -> None:
    if as_json:
        emit(json.loads(answer.to_json()))
    elif as_csv:
        typer.echo(answer.to_csv(intervals=True), nl=False)
    else:
        show_answer(answer)


def _check_picture(file: Path) -> None:
    """Refuse what could not be drawn before anything is spent."""
    from discreet.curator.answers.plot import extra

    if file.suffix.lower() not in _PICTURES:
        raise InvalidValue("a picture is a .png, .svg or .pdf file", str(file))
    extra("matplotlib", "plot").use("agg")  # no window: the picture goes into the file


def _draw(answer: Answer, file: Path) -> None:
    figure: Any = answer.plot().figure
    figure.savefig(file)
