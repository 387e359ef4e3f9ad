"""Audit every exhibit of the gallery and its honest version, and write the table into the page about it.

Run it as ``python -m tools.gallery_page``; it takes seconds. Draws differ from run to run, and so do the last digits.
"""

from __future__ import annotations

import re
from pathlib import Path

from discreet.audit.audit import audit_case
from discreet.audit.float_lattice import lattice
from discreet.audit.gallery import BROKEN, Exhibit
from discreet.audit.report import AuditReport, number, observed_words

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "what-the-auditor-catches.md"
START, END = "<!-- the table starts here -->", "<!-- the table ends here -->"
LATTICE_START, LATTICE_END = "<!-- the lattices start here -->", "<!-- the lattices end here -->"
FLOATS = ("numpy-laplace", "diffprivlib-laplace-inverse", "diffprivlib-laplace-four", "mean-by-the-true-count")


def main() -> None:
    """Write both tables."""
    text = PAGE.read_text(encoding="utf-8")
    text = _replaced(text, START, END, _exhibits())
    PAGE.write_text(_replaced(text, LATTICE_START, LATTICE_END, _lattices()), encoding="utf-8")


def _replaced(text: str, start: str, end: str, table: str) -> str:
    before, _, rest = text.partition(start)
    _, _, after = rest.partition(end)
    return f"{before}{start}\n{table}\n{end}{after}"


def _exhibits() -> str:
    rows = ["| exhibit | what is wrong | claimed | proved | its honest version |", "| --- | --- | --- | --- | --- |"]
    for exhibit in BROKEN:
        report = audit_case(exhibit.case)
        if not report.violated:
            raise SystemExit(f"{exhibit.name} was not found out:\n{report}")
        rows.append(f"| `{exhibit.name}` | {exhibit.wrong} *{exhibit.source}* | {_cells(report)} | {_twin(exhibit)} |")
    return "\n".join(rows)


def _cells(report: AuditReport) -> str:
    assert report.best is not None
    words = report.best.event.words.replace("|", "\\|")
    return f"{_claim(report)} | {observed_words(report.best)}: {words} ({report.draws:,} draws)"


def _claim(report: AuditReport) -> str:
    return re.sub(r"^\w+\((.*)\)$", r"\1", repr(report.claim))


def _twin(exhibit: Exhibit) -> str:
    case = exhibit.honest_case
    if case is None or exhibit.honest is None:
        return "none"
    report = audit_case(case)
    if report.violated:
        raise SystemExit(f"{case.name} was found guilty:\n{report}")
    return f"{exhibit.honest.words}: {_claim(report)} claimed, ε ≥ {number(report.observed_epsilon)} proved"


def _lattices() -> str:
    rows = [
        "| exhibit | told apart, at least | of the other's, at most | grids of the two |",
        "| --- | ---: | ---: | --- |",
    ]
    for exhibit in BROKEN:
        if exhibit.name in FLOATS:
            found = lattice(exhibit.mechanism, exhibit.first, exhibit.second, exhibit.claim)
            grids = f"{number(found.first_grid or 0)} and {number(found.second_grid or 0)}"
            rows.append(f"| `{exhibit.name}` | {found.distinguished:.1%} | {found.mistaken:.2%} | {grids} |")
    return "\n".join(rows)


if __name__ == "__main__":
    main()
