"""One report about a table that is to be published: for the terminal, as JSON, and as a page that stands alone.

Every form says that this is not differential privacy, what an attacker can still do, and what the same question would
cost through the curator.

>>> import pyarrow as pa
>>> people = pa.table({"age": ["<30", "<30", "≥30", "≥30"], "disease": ["flu", "flu", "flu", "cold"]})
>>> report = table_report(people, Roles.of(people.column_names, quasi="age", sensitive="disease"))
>>> report.checked.k, report.dangers[0].name, report.dangers[0].share
(2, 'homogeneity', 0.5)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.anonymize.cell_loss import ColumnLosses, column_losses
from discreet.anonymize.check import check
from discreet.anonymize.check_report import CheckReport
from discreet.anonymize.class_loss import ClassLosses, class_losses
from discreet.anonymize.classes import Classes
from discreet.anonymize.coded import CodedTable
from discreet.anonymize.curator_price import CuratorPrice, price_of_counts, price_of_release
from discreet.anonymize.danger import Danger, dangers
from discreet.anonymize.distinction import Distinction, distinctions
from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.histograms import ColumnHistogram, column_histograms
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.models.model import Model
from discreet.anonymize.population import PopulationUniques, population_uniques
from discreet.anonymize.population_match import population_sizes
from discreet.anonymize.publication import Publication
from discreet.anonymize.query_error import QueryError, query_error
from discreet.anonymize.report_data import report_data
from discreet.anonymize.report_html import report_html
from discreet.anonymize.report_text import report_text
from discreet.anonymize.risk import DEFAULT_THRESHOLD, Risks, risks
from discreet.anonymize.roles import Roles
from discreet.anonymize.source import arrow_table
from discreet.pages.report import Report

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["Comparison", "TableReport", "table_report"]


@dataclass(frozen=True, eq=False)
class Comparison:
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
    comparison: Comparison | None
    """The release beside its original; None where that was not given."""

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return report_data(self)

    def to_html(self) -> str:
        """The report as one page that needs nothing else: no network, no scripts."""
        return report_html(self)

    def __rich__(self) -> RenderableType:
        return report_text(self)


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


def _comparison(publication: Publication, models: Iterable[Model], threshold: float, seed: int) -> Comparison:
    before = publication.before
    sizes = Classes.of([before[name].codes for name in publication.roles.quasi]).sizes
    k = max((model.k for model in models if isinstance(model, KAnonymity)), default=None)
    return Comparison(
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
    publication: Publication, comparison: Comparison | None, checked: CheckReport, name: str, file: str
) -> CuratorPrice:
    if comparison is None:
        column = (*checked.roles.sensitive, *checked.roles.quasi)[0]
        return price_of_counts(column, checked.rows, name, file)
    error = comparison.query_error
    return price_of_release(publication, error.example, error.absolute_95, name, file)
