"""How likely people are found, held against a limit: a gauge as a drawing, and each attacker in words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.anonymize.figures import share
from discreet.anonymize.risk import Risks

__all__ = ["RiskLine", "gauge_svg", "risk_lines", "verdict"]

_RADIUS = 80
_BROAD = 16


@dataclass(frozen=True)
class RiskLine:
    """One figure of risk."""

    name: str
    """Who attacks, and which figure it is."""
    words: str
    """What the attacker knows or wants."""
    value: float
    """The risk, from 0 to 1."""
    is_within: bool
    """Whether it is at most the limit."""


def risk_lines(risks: Risks, limit: float) -> list[RiskLine]:
    """The figures, the worst first."""
    figures = [
        ("Prosecutor, highest", "knows that a person is in the table; the row that is easiest to find",
         risks.prosecutor.highest),
        ("Prosecutor, average", "the same, over all rows", risks.prosecutor.average),
        ("Journalist, highest", "does not know who is in the table"
         + ("" if risks.has_population else "; without a population he is the prosecutor"), risks.journalist.highest),
        ("Marketer", "wants many people at once: the share that is right", risks.marketer),
    ]  # fmt: skip
    return [RiskLine(name, words, value, value <= limit) for name, words, value in figures]


def verdict(risks: Risks, limit: float) -> str:
    """Whether the row that is easiest to find is within the limit, in a sentence."""
    highest = risks.prosecutor.highest
    if highest <= limit:
        return f"Within the limit: nobody is found with more than {share(highest)}, and {share(limit)} is allowed."
    return (
        f"Above the limit: the row that is easiest to find is found with {share(highest)}; {share(limit)} is allowed."
    )


def gauge_svg(value: float, limit: float) -> str:
    """A half circle from 0 to 100 %, the part above the limit marked, with a needle at the value."""
    label = f"Highest risk {share(value)}, limit {share(limit)}"
    x, y = _point(value, _RADIUS - _BROAD / 2 - 4)
    return (
        f'<svg class="risk-gauge" viewBox="-105 -98 210 122" role="img" aria-label="{label}">'
        f"{_arc(0, limit, 'allowed')}{_arc(limit, 1, 'too-high')}"
        f'<line class="needle" x1="0" y1="0" x2="{x:.2f}" y2="{y:.2f}"/><circle class="hub" r="5"/>'
        f"{_limit_mark(limit)}"
        f'<text x="-80" y="16">0 %</text><text x="80" y="16">100 %</text>'
        f'<text class="value" x="0" y="22">{share(value)}</text></svg>'
    )


def _limit_mark(limit: float) -> str:
    inner, outer = _point(limit, _RADIUS - _BROAD), _point(limit, _RADIUS + _BROAD - 4)
    return f'<line class="limit" x1="{inner[0]:.2f}" y1="{inner[1]:.2f}" x2="{outer[0]:.2f}" y2="{outer[1]:.2f}"/>'


def _arc(start: float, end: float, kind: str) -> str:
    (x1, y1), (x2, y2) = _point(start, _RADIUS), _point(end, _RADIUS)
    return f'<path class="{kind}" d="M{x1:.2f} {y1:.2f} A{_RADIUS} {_RADIUS} 0 0 1 {x2:.2f} {y2:.2f}"/>'


def _point(value: float, radius: float) -> tuple[float, float]:
    angle = math.pi * (1 - min(max(value, 0.0), 1.0))
    return radius * math.cos(angle), -radius * math.sin(angle)
