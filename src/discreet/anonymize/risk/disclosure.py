"""What somebody who reads a table can still find out, however it was checked. Only noise would keep it from them.

Homogeneity, background knowledge, guessing, linkage and other releases: each with a share of rows where a share can be
counted, in words where it cannot.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyarrow import compute

from discreet.anonymize.check import CheckReport
from discreet.anonymize.equivalence_classes import ClassHistogram
from discreet.anonymize.risk.risk import Risks
from discreet.anonymize.roles import Roles
from discreet.reports.format import counted, share

__all__ = ["FOR_THE_OWNER", "NOT_PRIVACY", "Danger", "dangers"]


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
