"""``discreet check`` and ``discreet anonymize``: what a table would tell if it were published, and one that tells less.

Both share their options: roles, hierarchies and populations.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import AsJson, console, refusals, whisper
from discreet.errors import InvalidValue, OutOfReach

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.anonymize.hierarchies.hierarchy import Hierarchy
    from discreet.anonymize.methods import CheckedRows, RecodingJob
    from discreet.anonymize.report.report import TableReport
    from discreet.anonymize.roles import Roles

__all__ = [
    "DOES_NOT_HOLD",
    "Alpha",
    "Beta",
    "C",
    "Delta",
    "Distance",
    "Diversity",
    "Hierarchies",
    "Html",
    "Identifying",
    "Json",
    "K",
    "L",
    "Population",
    "Quasi",
    "Sensitive",
    "T",
    "anonymize",
    "check",
    "hierarchies_of",
    "population_of",
    "roles_of",
    "weights_of",
]


Quasi = Annotated[
    str, typer.Option("--quasi", "-q", help="Columns that others may know (quasi-identifiers), separated by commas.")
]
Sensitive = Annotated[
    str, typer.Option("--sensitive", "-s", help="Columns that nobody should learn, separated by commas.")
]
Identifying = Annotated[str, typer.Option("--identifying", "-i", help="The columns that name people; never released.")]
Hierarchies = Annotated[
    list[str] | None,
    typer.Option(
        "--hierarchy",
        help="COLUMN=FILE.csv in ARX's format; or COLUMN= mask, mask:prefix, dates, intervals:5,10 or ordered:3,9.",
    ),
]
K = Annotated[int | None, typer.Option("--k", "-k", help="k-anonymity: the fewest rows that look alike.")]
L = Annotated[float | None, typer.Option("--l", "-l", help="l-diversity of every sensitive column.")]
Diversity = Annotated[str, typer.Option(help="Which l-diversity: distinct, entropy or recursive.")]
C = Annotated[float, typer.Option("--c", help="The c of recursive (c, l)-diversity.")]
T = Annotated[float | None, typer.Option("--t", "-t", help="t-closeness of every sensitive column.")]
Distance = Annotated[str, typer.Option(help="The distance of t-closeness: equal, ordered or numeric.")]
Alpha = Annotated[float | None, typer.Option(help="(α, k)-anonymity: the largest share of one sensitive value.")]
Beta = Annotated[float | None, typer.Option(help="β-likeness of every sensitive column.")]
Delta = Annotated[float | None, typer.Option(help="δ-disclosure privacy of every sensitive column.")]
Population = Annotated[
    str | None, typer.Option(help="How many people the rows are a sample of, or a file with all of them.")
]
Html = Annotated[str | None, typer.Option("--html", help="Also write the report as a standalone page.")]
Json = AsJson


def roles_of(table: pa.Table, quasi: str, sensitive: str, identifying: str) -> Roles:
    """The roles that the options give to the columns of a table."""
    from discreet.anonymize.roles import Roles

    return Roles.of(table.column_names, quasi=_list(quasi), sensitive=_list(sensitive), identifying=_list(identifying))


def _list(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def population_of(given: str | None) -> Any:
    """The number of people, or the table of them, that an option names."""
    from discreet.anonymize.table import arrow_table

    if given is None or given.isdecimal():
        return None if given is None else int(given)
    return arrow_table(given)


def weights_of(given: Sequence[str] | None) -> dict[str, float] | None:
    """How much columns count, from options such as ``age=2``."""
    found: dict[str, float] = {}
    for one in given or ():
        column, _, number = one.rpartition("=")
        try:
            found[column] = float(number)
        except ValueError:
            raise InvalidValue("a weight must be COLUMN=NUMBER", one, "age=2") from None
    return found or None


def hierarchies_of(given: Sequence[str] | None, table: pa.Table, roles: Roles) -> dict[str, Hierarchy]:
    """The hierarchies that the options describe, by column."""
    from discreet.catalog.names import suggestion

    found: dict[str, Hierarchy] = {}
    for one in given or ():
        column, mark, made = one.partition("=")
        if not mark or not made:
            raise InvalidValue("a hierarchy must be COLUMN=FILE or COLUMN=KIND", one, "age=age.csv, or zip=mask")
        if column not in roles.quasi:
            rule = "a hierarchy must belong to a quasi-identifier"
            raise InvalidValue(rule, column, suggestion(column, roles.quasi))
        if column in found:
            raise InvalidValue("a column must have one hierarchy", column, "name it once")
        found[column] = _make(column, made, table)
    return found


def _make(column: str, made: str, table: pa.Table) -> Hierarchy:
    from discreet.anonymize.hierarchies.builders import KINDS, described_hierarchy, read_arx_csv
    from discreet.anonymize.table import CodedColumn

    kind, _, details = made.partition(":")
    if kind not in KINDS:
        return read_arx_csv(made)
    return described_hierarchy(CodedColumn.of(column, table.column(column)), kind, details)


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
    """Recode a table so that every class of rows that look alike meets the models.

    Its rows are sorted by what they show, and it is checked again before it is written. This is not differential
    privacy: the report says what the release still reveals, and what the same question would cost through the curator.

    [dim]Example:[/]  discreet anonymize patients.csv -o release.csv --quasi zip,age --sensitive disease
    --hierarchy zip=mask --hierarchy age=intervals:5,10,20 --k 5 --l 2 --html report.html
    """
    with refusals("nothing was written"):
        from discreet.anonymize.methods import RecodingJob, checked_report
        from discreet.anonymize.models.registry import RequestedModels
        from discreet.anonymize.table import arrow_table
        from discreet.cli.output import refuse_overwriting

        page = None if html is None else Path(html)
        _refuse_ending(output)
        refuse_overwriting({"--output": output, "--html": page}, file, force)
        table = arrow_table(file)
        roles = roles_of(table, quasi, sensitive, identifying)
        models = RequestedModels(k, l, diversity, c, t, distance, alpha, beta, delta).models(roles)
        hierarchies = hierarchies_of(hierarchy, table, roles)
        job = RecodingJob(table, roles, models, hierarchies, suppression, seconds, loss, weights_of(weight), relaxed)
        _refuse_options(method, job)
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


def _found(method: str, job: RecodingJob, is_quiet: bool) -> CheckedRows:
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    from discreet.anonymize.methods import release_of

    parts = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*parts, console=console, transient=True, disable=is_quiet or not console.is_terminal) as bar:
        task = bar.add_task(method, total=1.0)
        return release_of(method, job, lambda share: bar.update(task, completed=share))


def _write(table: pa.Table, output: Path, page: Path | None, report: TableReport) -> None:
    from pyarrow import csv, parquet

    from discreet.cli.output import write_together

    write = csv.write_csv if output.suffix.lower() == ".csv" else parquet.write_table
    files = {output: lambda part: write(table, part)}
    if page is not None:
        files[page] = lambda part: part.write_text(report.to_html(), encoding="utf-8")
    write_together(files)


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
    """Check a table before it is published: k, l, t and others, where they fail, and what it still reveals.

    Exit code 3 says that a model does not hold. This is not differential privacy.

    [dim]Example:[/]  discreet check patients.csv --quasi zip,age --sensitive disease --k 4 --l 2 --html report.html
    """
    with refusals("nothing was written"):
        from discreet.anonymize.models.registry import RequestedModels
        from discreet.anonymize.report.report import table_report
        from discreet.anonymize.table import arrow_table
        from discreet.cli.output import refuse_overwriting, write_texts

        page = None if html is None else Path(html)
        refuse_overwriting({"--html": page}, file, force)
        table = arrow_table(file)
        before = None if original is None else arrow_table(original)
        roles = roles_of(table, quasi, sensitive, identifying)
        wanted = RequestedModels(k, l, diversity, c, t, distance, alpha, beta, delta)
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


_OPTIONS = {"suppression": "--suppression", "seconds": "--seconds", "weights": "--weight"}


def _refuse_options(method: str, job: RecodingJob) -> None:
    """Refuse what a method would ignore, and a search that nobody would wait for, before it begins."""
    from discreet.anonymize.methods import METHODS, ignored_settings

    if method in ("optimal", "local"):
        _refuse_endless(job)
    for name in ignored_settings(method, job) if method in METHODS else ():
        rule = f"{_OPTIONS[name]} must go with a search"
        raise InvalidValue(rule, f"<--method {method}>", "leave it out, or use --method optimal or local")


def _refuse_endless(job: RecodingJob) -> None:
    from discreet.anonymize.recode.lattice import GeneralizationLattice
    from discreet.anonymize.recode.lattice_search import LARGEST_LATTICE

    heights = [job.hierarchies[name].height if name in job.hierarchies else 1 for name in job.roles.quasi]
    nodes = GeneralizationLattice(tuple(heights)).nodes
    if job.models and job.seconds is None and nodes > LARGEST_LATTICE:
        rule = f"without a time limit there must be at most {LARGEST_LATTICE:,} recodings to search"
        remedy = "pass --seconds 60 for the best of a minute and its gap, or --method taxonomy"
        raise OutOfReach(rule, f"<{len(heights)} columns with {nodes:,} recodings>", remedy)
