"""``discreet understand`` and ``discreet local``: what can be known before anybody is asked, without a curator.

The first says what an ε means for one person, in words, figures and charts; the second plans a collection of reports.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.output import AsJson, console, emit, refusals, say, whisper

__all__ = [
    "best",
    "compare",
    "shuffle",
    "understand",
]


def understand(
    epsilon: Annotated[str, typer.Option("--epsilon", "-e", help="The loss of one answer, such as 1 or 0.1.")],
    delta: Annotated[
        str, typer.Option("--delta", "-d", help="The δ: the probability about which ε says nothing.")
    ] = "0",
    group: Annotated[int, typer.Option("--group", "-g", help="How many people belong together.")] = 1,
    prior: Annotated[str, typer.Option(help="What somebody believes about a person before the answer.")] = "0.5",
    n: Annotated[int, typer.Option("--n", "-n", help="How many people are in the table.")] = 1000,
    json: AsJson = False,
    html: Annotated[Path | None, typer.Option("--html", help="Write a standalone page with charts.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")] = False,
) -> None:
    """Say what an ε means for one person: what others can tell and believe, and how good the answers are.

    Nothing is read and nothing is spent.

    [dim]Example:[/]  discreet understand --epsilon 1 --group 4 --n 1000 --html epsilon.html
    """
    with refusals("nothing was written"):
        from discreet.cli.output import refuse_overwriting, write_texts
        from discreet.interpretation.understanding import understand as explain_loss

        refuse_overwriting({"--html": html}, None, force)
        found = explain_loss(epsilon, delta, group, prior, n)
        if html is not None:
            write_texts({html: found.to_html()})
        if json:
            typer.echo(found.to_json())
            return
        console.print(found)
        if html is not None:
            whisper(f"wrote {html}")


_HARDLY = 1.05


def shuffle(
    people: Annotated[int, typer.Argument(help="How many people send one report each.")],
    epsilon: Annotated[str, typer.Argument(help="What a report costs its sender.")],
    delta: Annotated[str, typer.Option(help="The δ of the shuffled reports.")] = "1e-6",
    as_json: AsJson = False,
) -> None:
    """Say what reports cost once they are shuffled, so that nobody knows whose is whose.

    [dim]Example:[/]  discreet local shuffle 100000 4
    """
    with refusals("nothing was computed"):
        from discreet.errors import InvalidValue
        from discreet.local.shuffling import closed_form
        from discreet.local.shuffling import shuffle as shuffle_reports

        found = shuffle_reports(people, epsilon, delta)
        if as_json:
            local, mixed_loss = float(found.local.epsilon), repr(found.central)
            return emit({"people": found.n, "local_epsilon": local, "mixed": mixed_loss, "factor": found.factor})
        say(f"alone    ε = {float(found.local.epsilon):g} for each of {found.n:,} people")
        times = f"{found.factor:.3g} times less" if found.factor > _HARDLY else "hardly less; more people would help"
        say(f"mixed    {found.central}: {times}")
        try:
            closed = closed_form(people, epsilon, delta)
            whisper(f"closed form of the theorem: ε = {float(closed.epsilon):.4g}")
        except InvalidValue as refusal:
            whisper(refusal.rule)
        whisper("Holds where somebody mixes the reports and forgets who sent which, and everybody sends one.")
        return None


def compare(
    people: Annotated[int, typer.Argument(help="How many people there are at most.")],
    epsilon: Annotated[str, typer.Argument(help="What everybody pays, with a curator and without.")],
    delta: Annotated[str | None, typer.Option(help="Also compare shuffled reports, with this δ.")] = None,
    as_json: AsJson = False,
    html: Annotated[Path | None, typer.Option("--html", help="Write a standalone page.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")] = False,
) -> None:
    """Compare how far a count is off with a curator and without one, for the same ε.

    [dim]Example:[/]  discreet local compare 1000000 1 --delta 1e-6 --html trust.html
    """
    with refusals("nothing was written"):
        from discreet.cli.output import refuse_overwriting, write_texts
        from discreet.local.choose import compare as compare_errors

        refuse_overwriting({"--html": html}, None, force)
        found = compare_errors(people, epsilon, delta=delta)
        if html is not None:
            write_texts({html: found.to_html()})
        if as_json:
            return typer.echo(found.to_json())
        console.print(found)
        if html is not None:
            whisper(f"wrote {html}")
        return None


def best(
    epsilon: Annotated[str, typer.Argument(help="What a report costs its sender.")],
    categories: Annotated[int, typer.Argument(help="How many answers can be given.")],
    most_bytes: Annotated[int | None, typer.Option(help="How long a report may be, in bytes.")] = None,
    as_json: AsJson = False,
) -> None:
    """Choose how to randomize answers to a question with several possible answers, and say why.

    [dim]Example:[/]  discreet local best 1 100
    """
    with refusals("nothing was computed"):
        from discreet.local.choose import best_randomizer

        found = best_randomizer(epsilon, categories, most_bytes=most_bytes)
        if as_json:
            return emit({"randomizer": found.kind, "words": str(found).splitlines()})
        return say(str(found))
