"""``discreet replay``: does the door tell anything about one person that noise does not hide?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.counting import counted
from discreet.cli.options import AsJson
from discreet.cli.output import BAD_INPUT, console, refusals, whisper
from discreet.errors import InvalidValue

if TYPE_CHECKING:
    from discreet.audit.replay import ReplayReport
    from discreet.audit.report import AuditReport

__all__ = ["replay"]

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
        from discreet.audit.replay import replay as run
        from discreet.cli.taking_in import source_of
        from discreet.cli.whole_files import refuse_overwriting, write_texts

        is_quiet = json
        refuse_overwriting({"--html": html}, None, force)
        source, asked = source_of(file, table, delimiter), _asked(sql, questions)
        with counted(is_quiet) as told:
            report = run(source, policy, asked, epsilon=epsilon, neighbours=neighbours, told=told)
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
    from discreet.audit.door import door

    answered = [line.question for line in report.lines if line.claimed]
    return [door(source, policy, sql, epsilon=epsilon, draws=draws) for sql in dict.fromkeys(answered)]


def _json(report: ReplayReport, audits: list[AuditReport]) -> str:
    from json import dumps

    return dumps(report.to_dict() | {"audits": [found.to_dict() for found in audits]}, ensure_ascii=False, indent=2)


def _asked(sql: list[str] | None, questions: Path | None) -> list[str]:
    listed = [] if questions is None else questions.read_text(encoding="utf-8").split(";")
    found = [*(sql or []), *(text.strip() for text in listed if text.strip())]
    if not found:
        raise InvalidValue("a replay needs a question", "<none>", "pass --sql or --questions")
    return found
