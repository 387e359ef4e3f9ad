"""What the attacks of a scoreboard do at scale, as charts: more releases, more noise, more published means."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from discreet.attacks.composed import composition
from discreet.attacks.defences.published_table import KAnonymousTable, LDiverseTable, PublishedTable, TCloseTable
from discreet.attacks.methods.intersection import Intersection
from discreet.attacks.methods.reconstruction_attack import Reconstruction
from discreet.attacks.methods.reconstruction_curve import phase_change, phase_chart
from discreet.attacks.people import People
from discreet.errors import DiscreetError
from discreet.pages.line_chart import Series, line_chart
from discreet.pages.page import paragraph

if TYPE_CHECKING:
    from discreet.attacks.board import Scoreboard

__all__ = ["charts_of"]

_RELEASES = 6
_MOST_PEOPLE = 3000
_REBUILT = (100, 1000)


def charts_of(board: Scoreboard) -> list[str]:
    """A drawing, with its words, for every attack on the scoreboard that has one."""
    drawn: Mapping[str, Callable[[Scoreboard], Iterator[str]]] = {
        Intersection.name: _composition,
        Reconstruction.name: _reconstruction,
    }
    return [part for attack in board.attacks if attack.name in drawn for part in drawn[attack.name](board)]


def _composition(board: Scoreboard) -> Iterator[str]:
    yield paragraph(
        "Intersection. Every release by itself keeps its rule. The more of them hold the same person, the fewer "
        "secrets are in all of the person's classes. A third of the people is in every release, each time among others."
    )
    people = board.people.take(board.people.numbers[:_MOST_PEOPLE])
    tables: tuple[PublishedTable, ...] = (KAnonymousTable(), LDiverseTable(), TCloseTable())
    yield line_chart(
        [one for table in tables if (one := _over_releases(people, table, board.seed)) is not None],
        title="Secrets guessed right from several releases",
        x_label="releases",
        y_label="secrets that are right",
        y_holds=(0.0, 1.0),
    )


def _over_releases(people: People, table: PublishedTable, seed: int) -> Series | None:
    """One line; None where these people cannot be published so."""
    try:
        found = composition(people, table, _RELEASES, seed)
    except DiscreetError:
        return None
    points = [(float(one.releases), one.right.rate) for one in found]
    return Series(table.name, points, band=[one.right.interval() for one in found], marks=True)


def _reconstruction(board: Scoreboard) -> Iterator[str]:
    yield paragraph(
        "Reconstruction. Eight questions a person about random halves of the table, with noise on every answer. Below "
        "a noise of about √n nearly everybody is rebuilt, however many people there are; above it, nearly nobody."
    )
    yield phase_chart({people: phase_change(people, seed=board.seed) for people in _REBUILT})
