"""What the options of ``discreet check`` and ``discreet anonymize`` mean: roles, hierarchies, populations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.options import AsJson
from discreet.errors import InvalidValue

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.anonymize.hierarchy import Hierarchy
    from discreet.anonymize.roles import Roles

__all__ = [
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

    return Roles.of(
        table.column_names, quasi=_listed(quasi), sensitive=_listed(sensitive), identifying=_listed(identifying)
    )


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def population_of(given: str | None) -> Any:
    """The number of people, or the table of them, that an option names."""
    from discreet.anonymize.source import arrow_table

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
    from discreet.catalog.suggestion import suggestion

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
        found[column] = _made(column, made, table)
    return found


def _made(column: str, made: str, table: pa.Table) -> Hierarchy:
    from discreet.anonymize.arx_csv import read_arx_csv
    from discreet.anonymize.coded import CodedColumn
    from discreet.anonymize.described_hierarchy import KINDS, described_hierarchy

    kind, _, details = made.partition(":")
    if kind not in KINDS:
        return read_arx_csv(made)
    return described_hierarchy(CodedColumn.of(column, table.column(column)), kind, details)
