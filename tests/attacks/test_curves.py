"""Both curves on one page."""

from __future__ import annotations

from discreet.attacks import curves_page
from discreet.attacks.methods import reconstruction as curves
from discreet.attacks.methods.reconstruction import phase_change
from discreet.attacks.methods.tracing import tracing_curve


def test_the_page_has_both_charts(monkeypatch):
    monkeypatch.setattr(curves, "phase_change", lambda people, **options: phase_change(people // 10, **options))
    monkeypatch.setattr(
        curves, "tracing_curve", lambda people, some, **options: tracing_curve(people, some[:3], **options)
    )
    drawn = curves_page(repeats=1)
    assert drawn.count("<figure") == 2
    assert "1,000 people" in drawn
    assert "means of 150 people" in drawn
