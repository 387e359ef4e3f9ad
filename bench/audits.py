"""How long an audit of ten million draws takes, for each of our mechanisms: ``python -m bench.audits``."""

from __future__ import annotations

import time

from rich.console import Console

from bench.figure import Figure, seconds, table_of
from discreet.audit import audit_case, builtin_mechanisms

__all__ = ["audit_figures"]

DRAWS = 10_000_000
MOST = 5.0


def audit_figures() -> list[Figure]:
    """CPU seconds of the whole audit: exact laws, draws, events, bounds and the report."""
    figures = []
    for case in builtin_mechanisms():
        start = time.process_time()
        report = audit_case(case, draws=DRAWS)
        taken = time.process_time() - start
        shown = f"{report.verdict}, ε ≥ {report.observed_epsilon:.3f} of {case.claim!r}"
        figures.append(Figure(case.name, seconds(taken), shown, "", f"≤ {seconds(MOST)}", taken <= MOST))
    return figures


if __name__ == "__main__":
    Console().print(table_of({f"Audits of {DRAWS:,} draws": audit_figures()}))
