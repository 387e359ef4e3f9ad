"""One measured figure beside what it is compared with and what it should be, and the table of all of them."""

from __future__ import annotations

from dataclasses import dataclass

from rich.table import Table

__all__ = ["Figure", "absent", "faster", "seconds", "table_of", "verdict"]


@dataclass(frozen=True)
class Figure:
    """One line of the table."""

    measure: str
    ours: str
    beside: str
    """Whom or what it is compared with, and their figure."""
    ratio: str = ""
    target: str = ""
    met: bool | None = None
    """Whether the target was met; None when there is none."""


def seconds(value: float) -> str:
    """A time in the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:,.3g} {unit}"
    return f"{value / 1e-9:,.3g} ns"


def faster(measure: str, ours: float, peer: str, theirs: float, target: float = 0.0) -> Figure:
    """A time beside a peer's; the target is the least ratio, 0 for none."""
    ratio = theirs / ours
    shown = f"{ratio:,.2f}×" if ratio < 10 else f"{ratio:,.0f}×"
    beside = f"{peer} {seconds(theirs)}"
    return Figure(
        measure, seconds(ours), beside, shown, f"≥ {target:g}" if target else "", ratio >= target if target else None
    )


def absent(measure: str, ours: float, peer: str, why: object) -> Figure:
    """A time beside a peer that could not be measured, with what it said."""
    return Figure(measure, seconds(ours), f"{peer} {why}")


def table_of(sections: dict[str, list[Figure]]) -> Table:
    """Everything, section by section."""
    table = Table(title="Discreet beside its peers: CPU time of the whole process tree, same run")
    table.add_column("measure")
    for column in ("Discreet", "beside", "ratio", "target", ""):
        table.add_column(column, justify="right")
    for title, figures in sections.items():
        table.add_section()
        table.add_row(f"[bold]{title}[/]")
        for one in figures:
            table.add_row(one.measure, one.ours, one.beside, one.ratio, one.target, verdict(one))
    return table


def verdict(figure: Figure) -> str:
    """Whether the target was met, as a table says it."""
    return {True: "hit", False: "[red]missed[/]", None: ""}[figure.met]
