"""``discreet anonymize``: make a table that can be published, and say what it still tells."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    weights_of,
)
from discreet.errors import InvalidValue

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.anonymize.recoding_methods import Job, Release
    from discreet.anonymize.report import TableReport

__all__ = ["anonymize"]


def anonymize(
    file: Annotated[Path, typer.Argument(help="The table: a CSV or Parquet file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the release goes: a .csv or .parquet file.")],
    quasi: Quasi,
    sensitive: Sensitive = "",
    identifying: Identifying = "",
    hierarchy: Hierarchies = None,
    k: K = None,
    l: L = None,  # noqa: E741  the letter of the model
    diversity: Diversity = "distinct",
    c: C = 3.0,
    t: T = None,
    distance: Distance = "equal",
    alpha: Alpha = None,
    beta: Beta = None,
    delta: Delta = None,
    method: Annotated[
        str, typer.Option("--method", "-m", help="optimal, local, mondrian, taxonomy, microaggregate.")
    ] = "optimal",
    suppression: Annotated[float | None, typer.Option(help="The share of rows that may be left out.")] = None,
    seconds: Annotated[float | None, typer.Option(help="How long an optimal search may take.")] = None,
    loss: Annotated[str, typer.Option(help="What an optimal search minimises.")] = "normalised",
    weight: Annotated[list[str] | None, typer.Option(help="COLUMN=2: how much a column counts. Repeat it.")] = None,
    relaxed: Annotated[
        bool, typer.Option("--relaxed", help="Relaxed Mondrian: rows with equal values may go to different classes.")
    ] = False,
    population: Population = None,
    json: Json = False,
    html: Html = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")] = False,
) -> None:
    """Recode a table so that every class meets the models; rows are sorted by what they show.

    The release is checked again before it is written. This is not differential privacy: the report says what the
    release still tells, and what the same question would cost through the curator.

    [dim]Example:[/]  discreet anonymize patients.csv -o release.csv --quasi zip,age --sensitive disease
    --hierarchy zip=mask --hierarchy age=intervals:5,10,20 --k 5 --l 2 --html report.html
    """
    with refusals("nothing was written"):
        from discreet.anonymize.checked_release import checked_report
        from discreet.anonymize.recoding_methods import Job
        from discreet.anonymize.source import arrow_table
        from discreet.anonymize.wanted_models import Wanted
        from discreet.cli.method_options import refuse_options
        from discreet.cli.whole_files import refuse_overwriting

        page = None if html is None else Path(html)
        _refuse_ending(output)
        refuse_overwriting({"--output": output, "--html": page}, file, force)
        table = arrow_table(file)
        roles = roles_of(table, quasi, sensitive, identifying)
        models = Wanted(k, l, diversity, c, t, distance, alpha, beta, delta).models(roles)
        hierarchies = hierarchies_of(hierarchy, table, roles)
        job = Job(table, roles, models, hierarchies, suppression, seconds, loss, weights_of(weight), relaxed)
        refuse_options(method, job)
        found = _found(method, job, json)
        people = population_of(population)
        report = checked_report(job, found, name=file.stem, file=str(file), population=people)
        _write(found.table, output, page, report)
        if json:
            typer.echo(report.to_json())
            return
        console.print(report)
        whisper(f"wrote {output}" if page is None else f"wrote {output} and {page}")


def _refuse_ending(output: Path) -> None:
    if output.suffix.lower() not in (".csv", ".parquet"):
        raise InvalidValue("a release must be a .csv or .parquet file", str(output))


def _found(method: str, job: Job, is_quiet: bool) -> Release:
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    from discreet.anonymize.recoding_methods import release_of

    parts = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*parts, console=console, transient=True, disable=is_quiet or not console.is_terminal) as bar:
        task = bar.add_task(method, total=1.0)
        return release_of(method, job, lambda share: bar.update(task, completed=share))


def _write(table: pa.Table, output: Path, page: Path | None, report: TableReport) -> None:
    from pyarrow import csv, parquet

    from discreet.cli.whole_files import write_together

    write = csv.write_csv if output.suffix.lower() == ".csv" else parquet.write_table
    files = {output: lambda part: write(table, part)}
    if page is not None:
        files[page] = lambda part: part.write_text(report.to_html(), encoding="utf-8")
    write_together(files)
