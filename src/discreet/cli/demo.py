"""``discreet demo`` and ``discreet tour``: the product and its mechanisms at work, with real noise."""

from __future__ import annotations

from discreet.cli.output import refusals

__all__ = ["demo", "tour"]


def demo() -> None:
    """Watch a hospital's curator at work: protect, explain, ask, attack, run dry, verify.

    [dim]Example:[/]  discreet demo
    """
    with refusals():
        from discreet.cli.demo_story import play

        play()


def tour() -> None:
    """Take a short tour: a private count, a survey, an auction, a median, a budget, and what the promise means.

    [dim]Example:[/]  discreet tour
    """
    with refusals():
        from discreet.demo.tour import play

        play()
