"""A report as plain data, as JSON can hold it: no NaN, no infinity, no arrays."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from discreet.anonymize.cell_loss import mean_loss
from discreet.anonymize.check_report import CheckReport
from discreet.anonymize.class_sizes import size_shares
from discreet.anonymize.danger import FOR_THE_OWNER, NOT_PRIVACY

if TYPE_CHECKING:
    from discreet.anonymize.report import Comparison, TableReport

__all__ = ["report_data"]


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


def _comparison(found: Comparison) -> dict[str, Any]:
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
