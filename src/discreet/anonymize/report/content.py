"""A report as plain data, as JSON can hold it: no NaN, no infinity, no arrays.

The sentences and figures of a report, as the terminal and the page both show them.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from discreet.anonymize.check import CheckReport, size_words, strictest_words, verdict_words
from discreet.anonymize.equivalence_classes import size_shares
from discreet.anonymize.loss.release_loss import mean_loss
from discreet.anonymize.report.format import counted, figure, share
from discreet.anonymize.risk.disclosure import FOR_THE_OWNER, NOT_PRIVACY

if TYPE_CHECKING:
    from discreet.anonymize.report.report import ReleaseComparison, TableReport

__all__ = [
    "headline",
    "loss_figures",
    "price_words",
    "report_data",
    "separating_words",
    "strictest_words",
    "verdict_words",
]


def report_data(report: TableReport) -> dict[str, Any]:
    """Everything a report says."""
    found = {
        "warning": NOT_PRIVACY,
        "audience": FOR_THE_OWNER,
        "name": report.name,
        "how": report.how,
        "holds": report.checked.holds,
        "roles": asdict(report.checked.roles),
        "check": _check(report.checked),
        "risk": asdict(report.risks) | {"uniqueness": report.risks.uniqueness},
        "distinction": [asdict(one) for one in report.distinctions],
        "population": None
        if report.population is None
        else asdict(report.population) | {"estimate": report.population.estimate, "share": report.population.share},
        "attacks": [asdict(one) for one in report.dangers],
        "curator": asdict(report.price) | {"questions_for_epsilon_1": report.price.questions},
        "comparison": None if report.comparison is None else _comparison(report.comparison),
    }
    plain: dict[str, Any] = _plain(found)
    return plain


def _check(checked: CheckReport) -> dict[str, Any]:
    return {
        "rows": checked.rows,
        "classes": checked.classes.count,
        "k": checked.k,
        "unique_rows": checked.unique_rows,
        "class_sizes": size_shares(checked.classes.sizes),
        "models": [
            {
                "model": one.model.name,
                "holds": one.holds,
                "violating_classes": one.violating_classes,
                "violating_rows": one.violating_rows,
                "parameter": one.model.parameter,
                "strictest": one.strictest,
            }
            for one in checked.verdicts
        ],
        "strictest": [asdict(one) for one in checked.measures],
        "contributions": [asdict(one) for one in checked.contributions],
        "violating": [asdict(one) for one in checked.violating()],
    }


def _comparison(found: ReleaseComparison) -> dict[str, Any]:
    return {
        "rows": found.rows,
        "suppressed": found.suppressed,
        "class_sizes_before": size_shares(found.sizes),
        "risk_before": asdict(found.risks) | {"uniqueness": found.risks.uniqueness},
        "loss": {
            "normalised": mean_loss(found.losses, "normalised"),
            "global_certainty_penalty": mean_loss(found.losses, "certainty_penalty"),
            "precision": mean_loss(found.losses, "precision"),
            "non_uniform_entropy": mean_loss(found.losses, "entropy"),
            "columns": [asdict(one) for one in found.losses],
        },
        "classes": asdict(found.class_losses),
        "query_error": asdict(found.query_error),
        "histograms": [asdict(one) | {"distance": one.distance} for one in found.histograms],
    }


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


Pair = tuple[str, str]


def headline(report: TableReport) -> str:
    """The table in a sentence."""
    words = size_words(report.checked)
    if report.comparison is None:
        return f"{words}."
    gone, rows = report.comparison.suppressed, report.comparison.rows
    return f"{words}; {gone:,} of {rows:,} rows were suppressed ({share(gone / rows)})."


def separating_words(report: TableReport) -> str:
    """The quasi-identifier that tells most rows apart."""
    checked = report.checked
    if checked.unique_rows:
        first = checked.contributions[0]
        removed = counted(first.unique_rows_removed, "row is", "rows are")
        return f"{removed} unique because of {first.column}; without it, {first.unique_rows:,} would be."
    first = max(checked.contributions, key=lambda one: one.smallest_class)
    size = counted(first.smallest_class, "row", "rows")
    return f"No row is unique. Without {first.column} the smallest class would have {size}."


def loss_figures(found: ReleaseComparison) -> list[Pair]:
    """What was lost, each with its name."""
    classes, error = found.class_losses, found.query_error
    normalised, penalty = mean_loss(found.losses, "normalised"), mean_loss(found.losses, "certainty_penalty")
    precision, entropy = mean_loss(found.losses, "precision"), mean_loss(found.losses, "entropy")
    return [
        ("normalised loss", f"{normalised or 0:.6f}"),
        ("global certainty penalty (GCP)", f"{penalty or 0:.4f}"),
        ("non-uniform entropy lost", share(entropy or 0)),
        ("precision", "not all cells are groups of a hierarchy" if precision is None else f"{precision:.4f}"),
        ("discernibility", f"{classes.discernibility:,}"),
        ("average class size", f"{figure(classes.average_size)} rows"),
        ("average size over k (C_avg)", figure(classes.c_avg)),
        ("average size with suppressed rows as a class (AECS)", figure(classes.aecs)),
        ("ambiguity", f"{figure(classes.ambiguity)} combinations per row"),
        *((f"classification metric of {name}", f"{value:.4f}") for name, value in classes.classification.items()),
        (f"error of {error.queries} random counts, median", f"{figure(error.median_absolute)} rows"),
        ("… 95 % of them within", f"{figure(error.absolute_95)} rows"),
        ("… relative, median and mean", f"{share(error.median_relative)}, {share(error.mean_relative)}"),
    ]


def price_words(report: TableReport) -> str:
    """What the curator would take for the same question, in a sentence or two."""
    price = report.price
    rows = counted(price.within, "row", "rows")
    more = (
        ""
        if price.questions < 1
        else f" A budget of ε = 1 answers {counted(price.questions, 'such question', 'such questions')}."
    )
    who = "as the release does" if report.comparison is not None else "which is a hundredth of the table or 3"
    return (
        f"Through the curator this question costs ε = {price.epsilon:g} if 95 % of the answers shall be within {rows}, "
        f"{who}, and ε bounds what the answer tells about anybody, whatever an attacker knows.{more}"
    )
