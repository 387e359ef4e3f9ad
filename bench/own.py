"""The curator beside the plain query it protects, and its ledger beside the bare disk."""

from __future__ import annotations

from bench.environments import run_side
from bench.figure import Figure, seconds

__all__ = ["curator_figures", "ledger_figures"]

Found = dict[str, dict[str, float]]


def curator_figures(found: Found) -> list[Figure]:
    """What protection costs on 10 million rows, and what a question costs on 1,000."""
    figures = []
    kinds = (("by_row", "row", 1.6), ("moved_row", "row, a tenth beyond bounds", 1.6), ("by_person", "person", 8.0))
    for name, unit, most in kinds:
        asked, plain, ingest = found[name]["cpu"], found[name]["plain"], seconds(found[name]["ingest"])
        ratio, measure = asked / plain, f"beside the plain query, unit = {unit}, taken in within {ingest}"
        beside = f"plain DuckDB {seconds(plain)}"
        figures.append(Figure(measure, seconds(asked), beside, f"1/{ratio:.1f}", f"≥ 1/{most:g}", ratio <= most))
    figures += [_unlisted(found, unit) for unit in ("row", "person")]
    for name, most in (("explain", 0.010), ("ask", 0.025)):
        taken = found[name]["cpu"]
        figures.append(Figure(f"{name}, 1,000 rows", seconds(taken), "", "", f"≤ {seconds(most)}", taken <= most))
    return figures


def _unlisted(found: Found, unit: str) -> Figure:
    """Groups that nobody listed beside the same question with listed ones, the same budget and bounds."""
    ours, listed = found[f"unlisted_{unit}"]["cpu"], found[f"listed_{unit}"]["cpu"]
    each = "a person makes ten groups visible" if unit == "person" else "every row is a person"
    measure, beside = f"groups that nobody listed, {each}", f"listed {seconds(listed)}"
    return Figure(measure, seconds(ours), beside, f"1/{ours / listed:.1f}", "≥ 1/2", ours <= 2 * listed)


def ledger_figures() -> list[Figure]:
    """How often 16 processes together are served by one ledger, and what the disk does for one writer without it."""
    found = run_side(None, "ledger.py")
    return [_served(name, found[name], least) for name, least in (("charges", 100), ("answers", 0))]


def _served(name: str, found: dict[str, float], least: int) -> Figure:
    rate, disk = found["rate"], found["disk"]
    measure = f"durable {name}, the longest wait {seconds(found['longest'])}"
    beside = f"forced writes without a ledger {disk:,.0f} per second"
    target, met = (f"≥ {least}", rate >= least) if least else ("", None)
    return Figure(measure, f"{rate:,.0f} per second", beside, f"{rate / disk:.2f}×", target, met)
