"""What ``discreet init`` does: a first policy, with what the owner says in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import typer

from discreet.catalog.budget import Budget
from discreet.catalog.names import suggestion
from discreet.catalog.policy.csv_format import CSVFormat
from discreet.catalog.policy.write import Schema, draft, read_schema
from discreet.cli.output import DEFAULT_FOLDER, console
from discreet.engines.duckdb.sample import Guess, guess
from discreet.errors import InvalidInput, InvalidValue

__all__ = ["Drafted", "draft_policy", "taken_in_now"]


_EACH_ROW = "row"


@dataclass(frozen=True)
class Drafted:
    """A first policy."""

    text: str
    """What the file will hold."""
    blank: list[str]
    """Fields that the owner has to fill in."""
    unclear: list[str]
    """Columns of the sample that can be read in two ways."""
    was_asked: bool
    """Whether somebody sits at a terminal."""

    @property
    def words(self) -> list[str]:
        """What to say about the sample."""
        summary = (
            "dates can be read with the day or the month first, or commas as decimals or thousands; it stays text"
            ' until you say its type and csv: {dates: \'%d/%m/%Y\'}, {decimal: ","} or {thousands: ","}'
        )
        return [f"{name}: {summary}" for name in self.unclear]


def draft_policy(
    file: Path,
    name: str | None,
    unit: str | None,
    budget: str | None,
    sample: Path | None,
    delimiter: str | None,
    encoding: str,
    *,
    quiet: bool,
) -> Drafted:
    """The policy of ``file``, from its names and types, a sample, and what is said here or in the terminal."""
    stated = CSVFormat(delimiter=delimiter, encoding=encoding)
    schema = read_schema(file, stated)
    found = None if sample is None else guess(sample, stated)
    is_asked = not quiet and console.is_terminal and sys.stdin.isatty()
    unit = _unit(unit, schema, is_asked)
    budget = _budget(budget, is_asked)
    text = draft(
        name or file.stem,
        schema.columns if found is None else {one: _typed(one, schema, found) for one in schema.columns},
        types_are_stated=schema.types_are_stated,
        unit=unit,
        budget=budget,
        csv=_spell(stated, found),
        sample=None if sample is None else str(sample),
    )
    blank = [field for field, value in (("unit", unit), ("budget", budget)) if value is None]
    return Drafted(text, blank, [] if found is None else list(found.unclear), is_asked)


def _spell(stated: CSVFormat, found: Guess | None) -> CSVFormat | None:
    if found is not None and found.csv is not None:
        return found.csv
    return None if stated == CSVFormat() else stated


def _typed(name: str, schema: Schema, found: Guess) -> str:
    """The type that the table states, or that the sample looks like."""
    return schema.columns[name] if schema.types_are_stated else found.types.get(name, schema.columns[name])


def _unit(given: str | None, schema: Schema, is_asked: bool) -> str | None:
    def check(text: str) -> str:
        known = [*schema.columns, _EACH_ROW]
        if text not in known:
            raise InvalidValue("the unit must be one of the columns, or row", text, suggestion(text, known))
        return text

    if given is not None:
        return check(given)
    listed = ", ".join(schema.columns)
    words = f"Whose privacy is protected? The column that names the person, or row where every row is one ({listed})"
    return _answer(words, check) if is_asked else None


def _budget(given: str | None, is_asked: bool) -> str | None:
    def check(text: str) -> str:
        Budget(text)
        return text

    if given is not None:
        return check(given)
    words = "What may everybody together spend? An ε: 1 is careful, 3 is usual, and it cannot be changed later"
    return _answer(words, check) if is_asked else None


def _answer(words: str, check: Callable[[str], str]) -> str:
    while True:
        try:
            return check(str(typer.prompt(words)).strip())
        except InvalidInput as refusal:
            typer.echo(str(refusal))


def taken_in_now(file: Path, policy: Path) -> None:
    """Take in the file at once, if the owner says so."""
    from discreet.cli.ingest import source_of, take_in

    if typer.confirm(f"Take in {file} now?", default=True):
        take_in(source_of(str(file), None, None), policy, DEFAULT_FOLDER, None)
