"""``discreet survey``: ask people who need not trust you."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.output import AsJson, console, emit, refusals, say, whisper
from discreet.errors import InvalidValue

if TYPE_CHECKING:
    from discreet.survey.survey import Survey

__all__ = ["invite", "new", "results", "serve"]


_MOST_INVITATIONS = 1_000_000
_ADDRESS = "http://127.0.0.1:8000"
_LINKS = "-invitations.csv"
"""Behind the name of the folder: links are kept beside it, never in it."""

Folder = Annotated[Path, typer.Argument(help="The folder of the survey.")]
Address = Annotated[str, typer.Option(help="Where people will reach the server; links begin with it.")]


def new(
    questions: Annotated[
        Path, typer.Argument(help="The questions in YAML; an example is written where there is none.")
    ],
    folder: Annotated[Path | None, typer.Argument(help="The folder to make; by default the file's name.")] = None,
    invitations: Annotated[
        int, typer.Option(min=1, max=_MOST_INVITATIONS, help="How many people to invite.", show_default=True)
    ] = 100,
    links: Annotated[
        Path | None,
        typer.Option(help="The CSV file to write the links to, outside of the folder; by default beside it."),
    ] = None,
    address: Address = _ADDRESS,
    check: Annotated[bool, typer.Option("--check", help="Check the questions, and make nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write an example of a questions file, or make the survey that a questions file describes.

    Invitations go to a CSV file outside of the folder, one link for each person; the store keeps hashes of them alone.
    Whoever has both knows whose report is whose, so hand the links out and delete the file.

    [dim]Example:[/]  discreet survey new questions.yaml --invitations 200
    """
    with refusals("nothing was made"):
        from discreet.survey.questions_file import EXAMPLE, read_file
        from discreet.survey.store import SurveyStore, fresh_token

        if not questions.exists() and not check:
            questions.write_text(EXAMPLE, encoding="utf-8")
            if as_json:
                return emit({"example": str(questions)})
            return say(f"Wrote an example to {questions}. Edit it, then run this again.")
        survey = read_file(questions)
        if not as_json:
            _tell(survey)
        if check:
            return emit({"questions": len(survey.questions), "epsilon": str(survey.epsilon)}) if as_json else None
        base = _base(address)
        place = folder or questions.with_suffix("")
        owner, tokens = fresh_token(), [fresh_token() for _ in range(invitations)]
        SurveyStore.refuse_existing(place)
        target = links or place.with_name(f"{place.name}{_LINKS}")
        _check_apart(target, place)
        place.mkdir(parents=True, exist_ok=True)
        _write_links(target, base, tokens)  # first, because an invitation without its link is lost
        SurveyStore.create(place, survey, owner, tokens).close()
        if as_json:
            made = {"folder": str(place), "invitations": invitations, "links": str(target)}
            return emit({**made, "results": f"{base}/results#{owner}"})
        say(f"\nMade {place} with {invitations:,} invitations: {target}")
        say(f"Results, for you alone and shown once: {base}/results#{owner}")
        whisper("hand the links out, then delete that file: with the folder, it tells whose report is whose")
        return whisper(f"next: discreet survey serve {place}")


def invite(
    folder: Folder,
    links: Annotated[Path, typer.Argument(help="The CSV file to write the new links to.")],
    count: Annotated[int, typer.Option(min=1, max=_MOST_INVITATIONS, help="How many more people to invite.")] = 100,
    address: Address = _ADDRESS,
    as_json: AsJson = False,
) -> None:
    """Invite more people to a survey.

    [dim]Example:[/]  discreet survey invite questions more.csv --count 50
    """
    with refusals("nobody was invited"):
        from discreet.survey.store import SurveyStore, fresh_token

        store, base = SurveyStore(folder), _base(address)
        _check_apart(links, folder)
        tokens = [fresh_token() for _ in range(count)]
        _write_links(links, base, tokens)  # first, because an invitation without its link is lost
        store.invite(tokens)
        if as_json:
            return emit({"invitations": count, "links": str(links)})
        return say(f"{count:,} more invitations: {links}")


def serve(
    folder: Folder,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen at; 0 takes a free one.")] = 8000,
) -> None:
    """Serve the page on which people answer. Only noisy reports arrive, and addresses are not logged.

    [dim]Example:[/]  discreet survey serve questions --port 8000
    """
    with refusals("the survey is as it was; serve it again at any time"):
        _require_extra()
        from discreet.survey.app import serve as serve_survey
        from discreet.survey.store import SurveyStore

        store = SurveyStore(folder)
        if (folder / "invitations.csv").exists():  # where releases before this one put it
            whisper(
                "invitations.csv lies in the folder, beside the hashes of its links: move it elsewhere, or delete it"
            )

        def ready(address: str) -> None:
            say(f"serving {store.survey.title!r} at {address}")
            if host not in ("127.0.0.1", "::1", "localhost"):
                whisper("people must reach it by https: put a proxy that encrypts in front, and let it log nothing")

        serve_survey(store, host, port, ready)
        store.close()


def results(
    folder: Folder,
    confidence: Annotated[str, typer.Option(help="Confidence of the intervals.")] = "0.95",
    together: Annotated[bool, typer.Option("--together", help="Widen the intervals so that all hold at once.")] = False,
    within: Annotated[
        str, typer.Option(help="The wanted error: of a share, or of a mean as a share of its range.")
    ] = "0.05",
    raw: Annotated[
        bool, typer.Option("--raw", help="Show unbiased estimates, also where they are below 0 % or above 100 %.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Estimate what everybody answered, with intervals, and say how many more answers a wanted error needs.

    [dim]Example:[/]  discreet survey results questions --together --within 0.02
    """
    with refusals():
        from discreet.reports.terminal import document_text
        from discreet.survey.results import ResultRequest, results_of
        from discreet.survey.store import SurveyStore

        ask_request = ResultRequest.of(confidence, together=together, within=within)
        found = results_of(SurveyStore(folder), ask_request)
        if json:
            typer.echo(found.to_json())
            return
        console.print(document_text(found.document(raw=raw)))


def _tell(survey: Survey) -> None:
    from discreet.privacy.format import shown

    say(f"{survey.title}: {len(survey.questions)} questions, ε = {shown(survey.epsilon, 4)} for everybody who answers")
    for question in survey.questions:
        loss = shown(question.randomizer.loss.epsilon, 4)
        say(f"  {question.name}: {question.type}, ε = {loss} by {question.randomizer.kind}")


def _base(address: str) -> str:
    """What links begin with; the page asks for its parts at the root of a host."""
    if not re.fullmatch(r"https?://[^\s/?#,\"]+/?", address):
        rule, remedy = "an address must be http:// or https:// and a host", "such as https://survey.example"
        raise InvalidValue(rule, address, remedy)
    return address.rstrip("/")


def _check_apart(file: Path, folder: Path) -> None:
    """Refuse to put links where their hashes are: whoever copies the folder would know whose report is whose."""
    if file.resolve().is_relative_to(folder.resolve()):
        raise InvalidValue("links must be kept apart from the survey's folder", str(file), "name a file elsewhere")


def _write_links(file: Path, base: str, tokens: Sequence[str]) -> None:
    """A line for each link, readable by the owner alone; the token comes after #, which browsers never send."""
    if file.exists():
        raise InvalidValue("nothing is overwritten", str(file), "name another file")
    descriptor = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as links:
        links.writelines(["link\n", *(f"{base}/#{token}\n" for token in tokens)])


def _require_extra() -> None:
    from discreet.curator.answers.plot import extra

    for module in ("fastapi", "uvicorn"):
        extra(module, "survey")
