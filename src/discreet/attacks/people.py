"""The table under attack: one row a person, what others know of them, and what they must not learn.

>>> import pyarrow as pa
>>> people = People.of(pa.table({"age": [28, 34, 28], "zip": [1, 1, 2], "ill": ["no", "yes", "no"]}), ["age"], "ill")
>>> people.size, people.secret.values
(3, ('no', 'yes'))

Where nobody brings a table there is a made-up hospital with one row for each patient, the same on every machine.

>>> patients(3).to_pylist()[0]
{'age': 65, 'zip': '13002', 'sex': 'f', 'diagnosis': 'flu'}
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import compute

from discreet.anonymize.roles import Roles
from discreet.anonymize.table import arrow_table
from discreet.errors import InvalidValue
from discreet.noise.experiment import Chance, experiment

__all__ = ["QUASI", "SECRET", "Coded", "Codes", "People", "patients"]


Codes = npt.NDArray[np.int64]
_MOST_SECRETS = 12


@dataclass(frozen=True, eq=False)
class Coded:
    """A column as places in the sorted list of its values."""

    codes: Codes
    """For every person the place of the value."""
    values: tuple[str, ...]
    """The values that occur, in their order, as text; everybody knows them."""


@dataclass(frozen=True, eq=False)
class People:
    """Rows, of which the outsider knows the quasi-identifiers and wants the secret."""

    table: pa.Table
    """The quasi-identifiers and the secret, as they came."""
    quasi: tuple[str, ...]
    """What others know."""
    secret_name: str
    """The column that nobody should learn."""
    columns: Mapping[str, Coded]
    """Every column, coded."""
    numbers: Codes
    """For every row the number of its person, by which questions can name one."""
    marked: npt.NDArray[np.bool_]
    """The secrets that count as "yes" where an attack wants one bit: those that split the people most evenly."""

    @classmethod
    def of(cls, source: Any, quasi: Sequence[str], secret: str) -> People:
        """The people of ``source``: a path, an Arrow table, or a frame, with one row a person."""
        rows = arrow_table(source)
        roles = Roles.of(rows.column_names, quasi=quasi, sensitive=secret)
        if rows.num_rows < 2:
            raise InvalidValue("a table must have at least two people to attack", rows.num_rows)
        table = rows.select([*roles.quasi, secret])
        columns = {name: _encode(table[name]) for name in roles.quasi}
        columns[secret] = _group(table[secret])
        if len(columns[secret].values) < 2:
            rule = "a secret must differ between people"
            raise InvalidValue(rule, f"<one value in '{secret}'>", "name another column as sensitive")
        return cls(table, roles.quasi, secret, columns, np.arange(rows.num_rows), _mark(columns[secret]))

    @property
    def size(self) -> int:
        """How many people there are."""
        return len(self.numbers)

    @property
    def secret(self) -> Coded:
        """The secret of everybody."""
        return self.columns[self.secret_name]

    @property
    def bits(self) -> npt.NDArray[np.bool_]:
        """For every person whether the secret is a marked one."""
        return self.marked[self.secret.codes]

    def take(self, rows: Codes) -> People:
        """Some of the people; values and numbers stay as they are, and so does what counts as "yes"."""
        columns = {name: Coded(column.codes[rows], column.values) for name, column in self.columns.items()}
        numbers = self.numbers[rows]
        return People(self.table.take(pa.array(rows)), self.quasi, self.secret_name, columns, numbers, self.marked)

    def supposing(self, secret: int) -> People:
        """The same people, if everybody had this secret; the table stays as it is."""
        same = Coded(np.full(self.size, secret), self.secret.values)
        return replace(self, columns={**self.columns, self.secret_name: same})

    def one_for_each_secret(self) -> People:
        """Made-up people, one with each secret, of whom nothing else is known; without a table."""
        secrets = np.arange(len(self.secret.values))
        columns = {self.secret_name: Coded(secrets, self.secret.values)}
        return replace(self, table=self.table.slice(0, 0), columns=columns, numbers=secrets)

    def renumbered(self) -> People:
        """The same people, numbered from 0."""
        return replace(self, numbers=np.arange(self.size))


def _encode(column: pa.ChunkedArray) -> Coded:
    if pa.types.is_nested(column.type):
        rule = "a column must hold values that can be told apart and sorted"
        raise InvalidValue(rule, f"<{column.type}>", "leave it out, or write it as text")
    encoded = _plain(column).combine_chunks().dictionary_encode()
    values = encoded.dictionary.to_pylist()
    order = np.array(sorted(range(len(values)), key=lambda place: values[place]), np.int64)
    ranks = np.empty(len(values) + 1, np.int64)
    ranks[order] = np.arange(len(values))
    ranks[-1] = len(values)
    codes = ranks[np.asarray(encoded.indices.fill_null(len(values)), np.int64)]
    texts = tuple(str(values[place]) for place in order)
    return Coded(codes, (*texts, _name_of_missing(texts)) if encoded.null_count else texts)


def _name_of_missing(texts: Collection[str]) -> str:
    """A name for no value that no value has."""
    name = "(missing)"
    while name in texts:
        name = f"({name})"
    return name


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values themselves, with NaN as missing."""
    if pa.types.is_null(column.type):
        return column.cast(pa.string())
    if pa.types.is_floating(column.type):
        return compute.if_else(compute.is_nan(column), None, column)
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _group(column: pa.ChunkedArray) -> Coded:
    """The secret as it is, or four ranges of it where it is a number of many values."""
    coded = _encode(column)
    if len(coded.values) <= _MOST_SECRETS or not _is_number(column.type):
        return coded
    counts = np.bincount(coded.codes, minlength=len(coded.values))
    quarter = np.minimum(4 * (np.cumsum(counts) - counts) // len(coded.codes), 3)
    groups, codes = np.unique(quarter, return_inverse=True)
    names = tuple(_range(np.flatnonzero(quarter == group), coded.values) for group in groups)
    return Coded(codes[coded.codes], names)


def _mark(secret: Coded) -> npt.NDArray[np.bool_]:
    shares = np.bincount(secret.codes, minlength=len(secret.values)) / len(secret.codes)
    order = np.argsort(-shares, kind="stable")
    taken = 1 + int(np.argmin(np.abs(np.cumsum(shares[order])[:-1] - 0.5)))
    chosen = np.zeros(len(shares), np.bool_)
    chosen[order[:taken]] = True
    return chosen


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _range(places: Codes, values: Sequence[str]) -> str:
    return f"{values[places[0]]} to {values[places[-1]]}"


QUASI = ("age", "zip", "sex")
"""What others know of a patient."""
SECRET = "diagnosis"  # noqa: S105  a column
"""What nobody should learn."""
_SEED = 1913
_ZIPS = tuple(str(13_001 + number) for number in range(40))
_DIAGNOSES = ("arthritis", "asthma", "cancer", "depression", "diabetes", "flu", "heart disease", "pregnancy")
_AT_20 = (1, 6, 1, 5, 2, 8, 1, 4)
_AT_80 = (8, 2, 6, 3, 6, 3, 8, 0)
_PREGNANCY = _DIAGNOSES.index("pregnancy")
_CHILDBEARING = 50


def patients(count: int = 3000) -> pa.Table:
    """Patients of all ages, more of them in some places than in others; what they have depends on age and sex."""
    chance = experiment(_SEED)
    age = np.clip(np.rint(chance.normal(50, 18, count)), 18, 90).astype(np.int64)
    weights = 1 / np.arange(2, len(_ZIPS) + 2)
    place = chance.choice(len(_ZIPS), count, p=weights / weights.sum())
    is_woman = chance.random(count) < 0.52
    return pa.table(
        {
            "age": age,
            "zip": pa.array(_ZIPS).take(pa.array(place)),
            "sex": np.where(is_woman, "f", "m"),
            "diagnosis": pa.array(_DIAGNOSES).take(pa.array(_diagnosed(age, is_woman, chance))),
        }
    )


def _diagnosed(age: Codes, is_woman: npt.NDArray[np.bool_], chance: Chance) -> Codes:
    """Odds that move from those at 20 to those at 80."""
    part = np.clip((age - 20) / 60, 0, 1)[:, None]
    odds = (1 - part) * np.array(_AT_20) + part * np.array(_AT_80)
    odds[~is_woman | (age > _CHILDBEARING), _PREGNANCY] = 0
    reached = np.cumsum(odds, axis=1) / odds.sum(axis=1, keepdims=True)
    return np.asarray((chance.random(len(age))[:, None] > reached).sum(axis=1))
