"""What the attacks of a scoreboard do at scale, as charts: more releases, more noise, more published means."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from discreet.attacks.composed import Composed, composition, composition_chart
from discreet.attacks.defences.published_table import KAnonymousTable, LDiverseTable, PublishedTable, TCloseTable
from discreet.attacks.methods.intersection import Intersection
from discreet.attacks.methods.reconstruction_attack import Reconstruction
from discreet.attacks.methods.reconstruction_curve import phase_change, phase_chart
from discreet.attacks.methods.tracing_attack import Tracing
from discreet.attacks.methods.tracing_power import tracing_chart, tracing_curve
from discreet.attacks.people import People
from discreet.errors import DiscreetError
from discreet.pages.page import paragraph

if TYPE_CHECKING:
    from discreet.attacks.board import Scoreboard

__all__ = ["charts_of"]

_RELEASES = 8
_MOST_PEOPLE = 3000
_REBUILT = (100, 1000)
_TRACED = 100
_ATTRIBUTES = (10, 30, 100, 300, 1000, 3000)


def charts_of(board: Scoreboard) -> list[str]:
    """A drawing, with its words, for every attack on the scoreboard that has one."""
    drawn: Mapping[str, Callable[[Scoreboard], Iterator[str]]] = {
        Intersection.name: _composition,
        Reconstruction.name: _reconstruction,
        Tracing.name: _tracing,
    }
    return [part for attack in board.attacks if attack.name in drawn for part in drawn[attack.name](board)]


def _composition(board: Scoreboard) -> Iterator[str]:
    tables: tuple[PublishedTable, ...] = (KAnonymousTable(2), KAnonymousTable(), LDiverseTable(), TCloseTable())
    people = board.people.take(board.people.numbers[:_MOST_PEOPLE])
    curves = {table.name: found for table in tables if (found := _composed(people, table, board.seed))}
    if curves:
        yield paragraph(
            "Intersection. Every release of this table by itself keeps its rule. The more of them hold the same "
            "person, each time among others, the fewer secrets are in all of the person's classes."
        )
        yield composition_chart(curves)


def _composed(people: People, table: PublishedTable, seed: int) -> Sequence[Composed]:
    """One curve; empty where these people cannot be published so."""
    try:
        return composition(people, table, _RELEASES, seed)
    except DiscreetError:
        return ()


def _reconstruction(board: Scoreboard) -> Iterator[str]:
    yield paragraph(
        "Reconstruction, of made-up bits. Eight questions a person about random halves of the table, with noise on "
        "every answer. While the noise is small beside √n nearly everybody is rebuilt, however many people there are."
    )
    yield phase_chart({people: phase_change(people, seed=board.seed) for people in _REBUILT})


def _tracing(board: Scoreboard) -> Iterator[str]:
    yield paragraph(
        "Tracing, of made-up people. The means of many attributes are published. Once there are more attributes than "
        "people, whoever has a person's attributes can tell whether the person is among them."
    )
    yield tracing_chart({_TRACED: tracing_curve(_TRACED, _ATTRIBUTES, seed=board.seed)})
