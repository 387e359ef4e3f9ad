"""Two curves that every owner should have seen: bits rebuilt against noise, members traced against attributes."""

from __future__ import annotations

from discreet.attacks.methods.reconstruction_curve import phase_change, phase_chart
from discreet.attacks.methods.tracing_power import tracing_chart, tracing_curve
from discreet.pages.page import page, paragraph, section

__all__ = ["curves_page"]

_REBUILT = (
    "Eight questions for each person, each about a random half of all people, are answered with noise, and least "
    "squares solves for everybody. While the noise is small beside √n, nearly every bit is right, however large n is. "
    "An owner who wants to answer more than n questions must add noise of the order √n to each. Bands hold at 95 %."
)
_TRACED = (
    "The means of d attributes of n people are published. Who has a person's attributes can tell whether the person is "
    "among them as soon as there are more attributes than people. Bands hold at 95 %."
)


def curves_page(repeats: int = 5, seed: int = 0) -> str:
    """Both curves on a page, measured anew in some ten seconds."""
    phases = {people: phase_change(people, repeats=repeats, seed=seed) for people in (100, 300, 1000)}
    traces = {
        people: tracing_curve(
            people, [people * part // 10 for part in (3, 10, 30, 100, 300)], repeats=repeats, seed=seed
        )
        for people in (50, 150)
    }
    return page(
        "Reconstruction and tracing",
        [
            section("Everybody from noisy counts", paragraph(_REBUILT), phase_chart(phases)),
            section("Somebody in published means", paragraph(_TRACED), tracing_chart(traces)),
        ],
    )
