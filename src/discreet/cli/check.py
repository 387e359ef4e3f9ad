"""``discreet check``: what a table would tell if it were published."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.output import console, refusals, whisper
from discreet.cli.publishing import (
    Alpha,
    Beta,
    C,
    Delta,
    Distance,
    Diversity,
    Hierarchies,
    Html,
    Identifying,
    Json,
    K,
    L,
    Population,
    Quasi,
    Sensitive,
    T,
    hierarchies_of,
    population_of,
    roles_of,
)

__all__ = ["DOES_NOT_HOLD", "check"]

DOES_NOT_HOLD = 3
"""The exit code when a model that was asked for does not hold."""


def check(
    file: Annotated[Path, typer.Argument(help="The table: a CSV or Parquet file.")],
    quasi: Quasi,
    sensitive: Sensitive = "",
    identifying: Identifying = "",
    k: K = None,
    l: L = None,  # noqa: E741  the letter of the model
    diversity: Diversity = "distinct",
    c: C = 3.0,
    t: T = None,
    distance: Distance = "equal",
    alpha: Alpha = None,
    beta: Beta = None,
    delta: Delta = None,
    original: Annotated[Path | None, typer.Option(help="The table it was made from, to measure what was lost.")] = None,
    hierarchy: Hierarchies = None,
    population: Population = None,
    json: Json = False,
    html: Html = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the page.")] = False,
) -> None:
    """Check a table before it is published: k, l, t and others, where they fail, and what it still tells.

    Exit code 3 says that a model does not hold. This is not differential privacy.

    [dim]Example:[/]  discreet check patients.csv --quasi zip,age --sensitive disease --k 4 --l 2 --html report.html
    """
    with refusals("nothing was written"):
        from discreet.anonymize.report import table_report
        from discreet.anonymize.source import arrow_table
        from discreet.anonymize.wanted_models import Wanted
        from discreet.cli.whole_files import refuse_overwriting, write_texts

        page = None if html is None else Path(html)
        refuse_overwriting({"--html": page}, file, force)
        table = arrow_table(file)
        before = None if original is None else arrow_table(original)
        roles = roles_of(table, quasi, sensitive, identifying)
        wanted = Wanted(k, l, diversity, c, t, distance, alpha, beta, delta)
        report = table_report(
            table,
            roles,
            wanted.models(roles),
            original=before,
            hierarchies=hierarchies_of(hierarchy, table if before is None else before, roles),
            population=population_of(population),
            name=file.stem,
            file=str(original or file),
        )
        if page is not None:
            write_texts({page: report.to_html()})
        if json:
            typer.echo(report.to_json())
        else:
            console.print(report)
            if page is not None:
                whisper(f"wrote {page}")
        if not report.checked.holds:
            raise typer.Exit(DOES_NOT_HOLD)
