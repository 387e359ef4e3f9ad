"""One report about a table that is to be published: for the terminal, as JSON, and as a page that stands alone.

Every form says that this is not differential privacy, what an attacker can still do, and what the same question would
cost through the curator.

>>> import pyarrow as pa
>>> people = pa.table({"age": ["<30", "<30", "≥30", "≥30"], "disease": ["flu", "flu", "flu", "cold"]})
>>> report = table_report(people, Roles.of(people.column_names, quasi="age", sensitive="disease"))
>>> report.checked.k, report.dangers[0].name, report.dangers[0].share
(2, 'homogeneity', 0.5)

That cost is the ε at which the curator's answers err as little as the release. The release tells each count with an
error that depends on the rows and with no promise to anybody. The curator adds noise to the true count; at the ε given
here 95 % of its answers are as close, and ε bounds what they tell about a person, whatever else an attacker knows.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from discreet.anonymize.check import CheckReport, check
from discreet.anonymize.equivalence_classes import EquivalenceClasses
from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.loss.query_error import ColumnHistogram, CountQuery, QueryError, column_histograms, query_error
from discreet.anonymize.loss.release_loss import ClassLosses, ColumnLosses, Publication, class_losses, column_losses
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.models.model import Model
from discreet.anonymize.report.content import report_data, report_document
from discreet.anonymize.risk.population import PopulationUniques, population_sizes, population_uniques
from discreet.anonymize.risk.risk import DEFAULT_THRESHOLD, Danger, Distinction, Risks, dangers, distinctions, risks
from discreet.anonymize.roles import Roles
from discreet.anonymize.table import CodedTable, arrow_table, label_of
from discreet.reports.document import Document
from discreet.reports.report import Report

__all__ = [
    "CuratorPrice",
    "ReleaseComparison",
    "TableReport",
    "epsilon_within",
    "price_of_counts",
    "price_of_release",
    "table_report",
]


_FAILURE = 0.05


@dataclass(frozen=True)
class CuratorPrice:
    """A question, and what it costs."""

    sql: str
    """The question."""
    within: int
    """How far 95 % of the answers are off at most, in rows."""
    epsilon: float
    """What one answer costs, for people with one row each."""
    commands: tuple[str, ...]
    """What to type."""

    @property
    def questions(self) -> int:
        """How many such questions a budget of ε = 1 answers."""
        return math.floor(1 / self.epsilon)


def epsilon_within(error: float) -> float:
    """The ε, rounded up to three digits, at which 95 % of noisy counts are off by at most ``error``.

    Laplace noise of scale 1/ε exceeds ln(20)/ε with probability 5 %; the curator's is no larger.

    >>> epsilon_within(3), epsilon_within(30)
    (0.999, 0.1)
    """
    return math.ceil(math.log(1 / _FAILURE) / error * 1000) / 1000


def price_of_release(publication: Publication, query: CountQuery, error: float, table: str, file: str) -> CuratorPrice:
    """The price of one of the questions of ``query_error`` at the error that the release has, in whole rows."""
    return _priced(_sql(publication, query, table), max(math.ceil(error), 1), table, file)


def price_of_counts(column: str, rows: int, table: str, file: str) -> CuratorPrice:
    """The price of counting every value of a column within a hundredth of the rows.

    A person is in one group, so that all counts together cost what one costs.
    """
    name = _name(column)
    sql = f"SELECT {name}, COUNT(*) AS people FROM {_name(table)} GROUP BY {name}"  # noqa: S608  it is shown, never run
    return _priced(sql, max(math.ceil(rows / 100), 3), table, file)


def _priced(sql: str, within: int, table: str, file: str) -> CuratorPrice:
    commands = (
        shlex.join(["discreet", "init", file]),
        shlex.join(["discreet", "protect", file, f"{table}.yaml"]),
        f"discreet ask {_quote(sql)} --within {within}",
    )
    return CuratorPrice(sql, within, epsilon_within(within), commands)


def _quote(sql: str) -> str:
    """The question as a shell takes it, in double quotes where that can be read."""
    return shlex.quote(sql) if set(sql) & set('"$`\\\\!') else f'"{sql}"'


def _sql(publication: Publication, query: CountQuery, table: str) -> str:
    parts = [_between(publication, *one) for one in query.ranges]
    if query.sensitive is not None:
        name, place = query.sensitive
        parts.append(_equals(name, publication.before[name].values[place]))
    return f"SELECT COUNT(*) AS people FROM {_name(table)} WHERE {' AND '.join(parts)}"  # noqa: S608  it is shown, never run


def _between(publication: Publication, name: str, first: int, last: int) -> str:
    values = [value for value in publication.coverings[name].domain[first:last] if value is not None]
    if not values:
        return f"{_name(name)} IS NULL"
    if len(values) == 1:
        return _equals(name, values[0])
    return f"{_name(name)} BETWEEN {_literal(values[0])} AND {_literal(values[-1])}"


def _equals(name: str, value: object) -> str:
    return f"{_name(name)} IS NULL" if value is None else f"{_name(name)} = {_literal(value)}"


def _name(column: str) -> str:
    return column if column.isidentifier() else '"' + column.replace('"', '""') + '"'


def _literal(value: object) -> str:
    if isinstance(value, (int, float)):
        return label_of(value)
    return "'" + label_of(value).replace("'", "''") + "'"


@dataclass(frozen=True, eq=False)
class ReleaseComparison:
    """A release beside the table that it was made from."""

    rows: int
    """How many rows the original has."""
    suppressed: int
    """How many of them were not released."""
    sizes: tuple[int, ...]
    """The sizes of the classes of the original."""
    risks: Risks
    """The risks of the original."""
    losses: tuple[ColumnLosses, ...]
    """What every quasi-identifier lost."""
    class_losses: ClassLosses
    """What was lost by putting rows into classes."""
    query_error: QueryError
    """How far counts are off."""
    histograms: tuple[ColumnHistogram, ...]
    """How every column is spread, before and after."""


@dataclass(frozen=True, eq=False)
class TableReport(Report):
    """What there is to say about a table that is to be published. None of it is differential privacy."""

    name: str
    """What the table is called."""
    how: str
    """How it was made, in words; empty where that is not known."""
    checked: CheckReport
    """The models, the classes that break them, and what singles people out."""
    risks: Risks
    """How likely people are found."""
    distinctions: tuple[Distinction, ...]
    """How well sets of columns tell rows apart, the sets that tell most apart first."""
    population: PopulationUniques | None
    """How many people are unique in the population; None where its size was not given."""
    dangers: tuple[Danger, ...]
    """What an attacker can still do."""
    price: CuratorPrice
    """What the same question would cost through the curator."""
    comparison: ReleaseComparison | None
    """The release beside its original; None where that was not given."""

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return report_data(self)

    def document(self) -> Document:
        """Everything a person should read before publishing."""
        return report_document(self)


def table_report(
    source: Any,
    roles: Roles,
    models: Iterable[Model] = (),
    *,
    original: Any = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    population: Any = None,
    threshold: float = DEFAULT_THRESHOLD,
    name: str = "table",
    file: str | None = None,
    how: str = "",
    seed: int = 0,
) -> TableReport:
    """Check a table, measure its risks and, with its ``original``, what was lost. It is not differential privacy.

    ``hierarchies`` tell what its cells stand for; ranges, sets and masks are read without them. ``population`` is the
    number of people that the rows are a sample of, or a table of all of them with the quasi-identifiers. Rows riskier
    than ``threshold`` are at risk. ``seed`` picks the questions whose errors are measured; ``name`` and ``file`` are
    what the example of a question calls the table.
    """
    table = arrow_table(source)
    asked = list(models)
    checked = check(table, roles, asked, reference=original)
    coded = CodedTable({column.name: column for column in checked.columns}, checked.rows)
    whole = (table, None) if original is None else (original, hierarchies)
    publication = Publication.of(whole[0], table, roles, whole[1])
    comparison = None if original is None else _comparison(publication, asked, threshold, seed)
    is_table = population is not None and not isinstance(population, (int, float))
    people = population_sizes(publication, population) if is_table else None
    found = risks(checked.classes.sizes, people, threshold=threshold)
    return TableReport(
        name=name,
        how=how,
        checked=checked,
        risks=found,
        distinctions=distinctions(coded, roles.quasi),
        population=None if population is None or is_table else population_uniques(checked.classes.sizes, population),
        dangers=dangers(checked, found, table),
        price=_price(publication, comparison, checked, name, file or f"{name}.csv"),
        comparison=comparison,
    )


def _comparison(publication: Publication, models: Iterable[Model], threshold: float, seed: int) -> ReleaseComparison:
    before = publication.before
    sizes = EquivalenceClasses.of([before[name].codes for name in publication.roles.quasi]).sizes
    k = max((model.k for model in models if isinstance(model, KAnonymity)), default=None)
    return ReleaseComparison(
        rows=before.rows,
        suppressed=publication.suppressed,
        sizes=tuple(map(int, sizes)),
        risks=risks(sizes, threshold=threshold),
        losses=column_losses(publication),
        class_losses=class_losses(publication, k),
        query_error=query_error(publication, seed=seed),
        histograms=column_histograms(publication),
    )


def _price(
    publication: Publication, comparison: ReleaseComparison | None, checked: CheckReport, name: str, file: str
) -> CuratorPrice:
    if comparison is None:
        column = (*checked.roles.sensitive, *checked.roles.quasi)[0]
        return price_of_counts(column, checked.rows, name, file)
    error = comparison.query_error
    return price_of_release(publication, error.example, error.absolute_95, name, file)
