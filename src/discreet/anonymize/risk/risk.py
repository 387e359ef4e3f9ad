"""How likely it is to find out whose a row is, and what else somebody who reads a table can find out.

Three attackers, each averaged over rows and not over classes:

- The prosecutor knows that a person is in the table: 1 / |E| for a row of class E.
- The journalist does not, and needs a person of the population: 1 / |F|, where F are the people of the population who
  look like E. Without a population he is the prosecutor.
- The marketer wants many people at once: the share of rows that he gets right on average.

A low risk is not differential privacy: whoever shares a class may share its secret, too. Homogeneity, background
knowledge, guessing, linkage and other releases remain, each with a share of rows where a share can be counted, in words
where it cannot. Only noise would keep it from them. How well sets of columns tell rows apart is counted, too.

>>> import numpy as np
>>> found = risks(np.array([99, 1]))
>>> found.prosecutor.average, found.prosecutor.highest
(0.02, 1.0)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import compute

from discreet.anonymize.check import CheckReport
from discreet.anonymize.equivalence_classes import ClassHistogram, EquivalenceClasses
from discreet.anonymize.roles import Roles
from discreet.anonymize.table import CodedTable
from discreet.errors import InvalidValue
from discreet.reports.format import counted, share

__all__ = [
    "DEFAULT_THRESHOLD",
    "FOR_THE_OWNER",
    "NOT_PRIVACY",
    "AttackerRisk",
    "Danger",
    "Distinction",
    "Risks",
    "dangers",
    "distinction",
    "distinctions",
    "risks",
]


DEFAULT_THRESHOLD = 0.2
"""Rows with a higher risk are at risk: those of classes with fewer than 5 rows."""

Sizes = npt.NDArray[np.integer]


@dataclass(frozen=True)
class AttackerRisk:
    """The risk of single rows under one attacker."""

    highest: float
    """The risk of the row that is easiest to find."""
    average: float
    """The mean risk of a row."""
    at_risk: float
    """The share of rows whose risk is above the threshold."""


@dataclass(frozen=True)
class Risks:
    """The risks of a table's rows."""

    threshold: float
    """From which risk on a row counts as being at risk; itself excluded."""
    prosecutor: AttackerRisk
    """Of an attacker who knows that a person is in the table."""
    journalist: AttackerRisk
    """Of an attacker who does not."""
    marketer: float
    """The share of rows that an attacker gets right who guesses all of them."""
    unique_rows: int
    """How many rows are alone in their class."""
    rows: int
    """How many rows there are."""
    has_population: bool
    """Whether the sizes in the population were known; without them the journalist is the prosecutor."""

    @property
    def uniqueness(self) -> float:
        """The share of rows that are alone in their class."""
        return self.unique_rows / self.rows


def risks(sizes: Sizes, population: Sizes | None = None, *, threshold: float = DEFAULT_THRESHOLD) -> Risks:
    """The risks of classes of some ``sizes``, where ``population`` tells how many people look like each of them."""
    _refuse(sizes, population, threshold)
    rows = int(sizes.sum())
    people = sizes if population is None else population
    marketer = float((sizes / people).sum()) / rows
    average = max(len(sizes) / float(people.sum()), marketer)
    return Risks(
        threshold=threshold,
        prosecutor=AttackerRisk(1 / int(sizes.min()), len(sizes) / rows, _at_risk(sizes, sizes, threshold)),
        journalist=AttackerRisk(1 / int(people.min()), average, _at_risk(sizes, people, threshold)),
        marketer=marketer,
        unique_rows=int(np.count_nonzero(sizes == 1)),
        rows=rows,
        has_population=population is not None,
    )


def _at_risk(sizes: Sizes, people: Sizes, threshold: float) -> float:
    return float(sizes[1 / people > threshold].sum() / sizes.sum())


def _refuse(sizes: Sizes, population: Sizes | None, threshold: float) -> None:
    if not 0 < threshold <= 1:
        raise InvalidValue("the threshold of risk must be above 0 and at most 1", threshold)
    if not len(sizes):
        raise InvalidValue("a table must have rows", 0)
    if population is not None and (len(population) != len(sizes) or bool((population < sizes).any())):
        rule = "every class must have at least as many people in the population as rows in the table"
        raise InvalidValue(rule, "<a smaller one>", "count the population with the same recoding")


@dataclass(frozen=True)
class Distinction:
    """How well one set of columns tells rows apart."""

    columns: tuple[str, ...]
    """The set."""
    distinction: float
    """Different combinations over rows."""
    separation: float
    """The share of pairs of rows that differ."""
    uniqueness: float
    """The share of rows whose combination no other row has."""


def distinction(table: CodedTable, columns: Sequence[str]) -> Distinction:
    """The distinction of one set of columns."""
    sizes = EquivalenceClasses.of([table[name].codes for name in columns]).sizes
    pairs = table.rows * (table.rows - 1) / 2
    alike = float((sizes * (sizes - 1) / 2).sum())
    unique = int(np.count_nonzero(sizes == 1))
    return Distinction(
        tuple(columns), len(sizes) / table.rows, 1 - alike / pairs if pairs else 0.0, unique / table.rows
    )


def distinctions(table: CodedTable, columns: Sequence[str], *, most: int = 64) -> tuple[Distinction, ...]:
    """The distinction of every set of one, two, … columns as far as ``most`` sets go, and of all columns together.

    Whole sizes only: where the sets of three columns would be too many, there are none of them. The sets that tell most
    apart come first.
    """
    chosen = [*_sets(columns, most), tuple(columns)] if len(columns) > 1 else [tuple(columns)]
    found = [distinction(table, one) for one in dict.fromkeys(chosen)]
    return tuple(sorted(found, key=lambda one: (-one.distinction, len(one.columns))))


def _sets(columns: Sequence[str], most: int) -> Iterator[tuple[str, ...]]:
    left = most
    for size in range(1, len(columns)):
        left -= comb(len(columns), size)
        if left < 0 and size > 1:
            return
        yield from combinations(columns, size)


NOT_PRIVACY = (
    "This is not differential privacy. The models bound how well rows can be told apart by the quasi-identifiers; they "
    "do not bound what the table tells about a person to somebody who knows more, or has another table."
)
"""What every report says first."""

FOR_THE_OWNER = "This report is for the owner: it shows figures of rows that are not released. Do not publish it."
"""Figures of the original, beside a release, would give away what the release hides."""

_CONFIDENT = 0.9
_FEW = 0.5


@dataclass(frozen=True)
class Danger:
    """One way to find something out."""

    name: str
    """What the attack is called."""
    column: str | None
    """The column it tells, if it tells one."""
    share: float | None
    """The share of rows that it hits; None where the table alone does not tell."""
    words: str
    """What an attacker does, in a sentence or two."""


def dangers(checked: CheckReport, risks: Risks, table: pa.Table) -> tuple[Danger, ...]:
    """The dangers of a table that is published as ``table``, the measured ones first."""
    measured = [one for name, histogram in checked.histograms.items() for one in _of_column(name, histogram)]
    return (*measured, _linkage(risks), *_identifiers(checked.roles, table), *_beyond_the_table(checked))


def _of_column(name: str, histogram: ClassHistogram) -> Iterator[Danger]:
    rows = int(histogram.sizes.sum())
    values = np.bincount(histogram.classes, minlength=len(histogram.sizes))
    most = histogram.largest(histogram.counts)

    def rows_of(chosen: np.ndarray) -> float:
        return int(histogram.sizes[chosen].sum()) / rows

    alone, settled = rows_of(values == 1), rows_of(values <= 2)
    sure, right, base = rows_of(most >= _CONFIDENT * histogram.sizes), int(most.sum()) / rows, _base_rate(histogram)
    yield Danger(
        "homogeneity",
        name,
        alone,
        f"{share(alone)} of the rows are in classes with one {name}. Whoever finds the class of such a person knows it "
        f"without finding the row. {share(sure)} are in classes where one value has at least 90 % of the rows.",
    )
    yield Danger(
        "background knowledge",
        name,
        settled,
        f"{share(settled)} of the rows are in classes with at most two values of {name}. "
        "Whoever can rule one of them out, knows.",
    )
    yield Danger(
        "guessing",
        name,
        right,
        f"Naming the most frequent {name} of everybody's class is right for {share(right)} of the rows; "
        f"naming the most frequent one of the table, for {share(base)}.",
    )


def _base_rate(histogram: ClassHistogram) -> float:
    """How often the most frequent value of the table is right about the released rows."""
    counts = np.bincount(histogram.values, histogram.counts, minlength=len(histogram.table))
    return float(counts.max() / counts.sum())


def _linkage(risks: Risks) -> Danger:
    alone = counted(risks.unique_rows, "row is", "rows are")
    return Danger(
        "linkage",
        None,
        risks.prosecutor.average,
        f"A list with names and the same quasi-identifiers finds the row of a person who is known to be here with "
        f"probability {share(risks.prosecutor.average)} on average, and {share(risks.prosecutor.highest)} for the "
        f"easiest; {alone} alone in a class.",
    )


def _identifiers(roles: Roles, table: pa.Table) -> Iterator[Danger]:
    """Columns that were called insensitive and tell rows apart."""
    for name in roles.insensitive:
        if name not in table.column_names or not table.num_rows:
            continue
        distinct = compute.count_distinct(_countable(table.column(name))).as_py() / table.num_rows
        if distinct > _FEW and table.num_rows > 1:
            words = (
                f"{name} has as many values as {share(distinct)} of the rows and is released as it is: whoever knows "
                "one finds the row. Call it identifying, or quasi-identifying."
            )
            yield Danger("another identifier", name, distinct, words)


def _countable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_dictionary(kind):
        return column.cast(kind.value_type)
    if pa.types.is_nested(kind):
        return pa.chunked_array([[repr(value) for value in column.to_pylist()]], type=pa.string())
    return column


def _beyond_the_table(checked: CheckReport) -> Iterator[Danger]:
    yield Danger(
        "intersection",
        None,
        None,
        "Another release about some of the same people, by anybody and at any time, leaves of each person's values "
        "only those that both allow. No check of one table can count that.",
    )
    others = ", ".join((*checked.roles.sensitive, *checked.roles.insensitive))
    if others:
        words = f"All of it is about attackers who know the quasi-identifiers. Whoever knows {others} of a person "
        yield Danger("other knowledge", None, None, f"{words}can search by that, too.")
