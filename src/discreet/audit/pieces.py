"""Many answers at once: an array where they are all numbers of one kind, else a list of canonical outcomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.audit.canonical import canonical
from discreet.errors import InvalidType, InvalidValue
from discreet.mechanisms.many import Many

__all__ = ["Piece", "as_objects", "batch_piece", "joined", "piece"]

Piece: TypeAlias = npt.NDArray[Any] | list[Any] | Many
"""One answer per entry, or per row of an array of two dimensions; `Many` where few outcomes are different."""

_NUMBERS: dict[type, type] = {
    int: np.int64,
    float: np.float64,
    bool: np.bool_,
    np.int64: np.int64,
    np.float64: np.float64,
    np.bool_: np.bool_,
}
_AS_THEY_ARE = (str, bytes, type(None))
_HASHED_AS_THEY_ARE = {bool, int, str, bytes, type(None)}


def batch_piece(answers: Any, size: int) -> Piece:
    """What a batched function returned, checked: as many answers as it was asked for."""
    if isinstance(answers, Many) and len(answers) == size:
        return _many(answers)
    if not _is_sequence(answers):
        rule = "a batched function must return a sequence of answers"
        raise InvalidType(rule, f"<a {type(answers).__name__}>", "without Batched, it is called once for each answer")
    if len(answers) != size:
        raise InvalidValue(f"a batched function must return as many answers as it is asked for, {size}", len(answers))
    if isinstance(answers, np.ndarray) and answers.ndim <= 2 and answers.dtype.kind in "biuf":
        return _plain(answers)
    return piece(answers.tolist() if isinstance(answers, np.ndarray) else list(answers))


def _is_sequence(answers: Any) -> bool:
    is_one = isinstance(answers, (str, bytes, Mapping)) or getattr(answers, "shape", None) == ()
    return not is_one and hasattr(answers, "__len__") and hasattr(answers, "__getitem__")


def _many(answers: Many) -> Piece:
    """Numbers as an array; other answers as canonical outcomes."""
    different = piece(list(answers.different))
    if isinstance(different, np.ndarray) and different.ndim == 1:
        return np.asarray(different[answers.places])
    return Many(as_objects(different), answers.places)


def piece(answers: list[Any]) -> Piece:
    """Answers as they came, in the form that is fastest to count."""
    types = set(map(type, answers))
    kind = types.pop() if len(types) == 1 else None
    if kind in _NUMBERS:
        return _numbers(answers, kind)
    if kind in _AS_THEY_ARE:
        return answers
    if kind in (tuple, list, np.ndarray):
        return _rows(answers)
    return [canonical(answer) for answer in answers]


def _numbers(answers: list[Any], kind: type) -> Piece:
    """Answers of one kind of number; the type is said, because NumPy takes some large integers for floats."""
    try:
        return np.asarray(answers, _NUMBERS[kind])
    except OverflowError:
        return [canonical(answer) for answer in answers]


def _plain(array: npt.NDArray[Any]) -> Piece:
    """Whole numbers as int64 and real ones as float64; integers that do not fit stay Python's own."""
    if array.dtype.kind == "f":
        return array.astype(np.float64)
    if array.dtype.kind == "b":
        return array
    if array.dtype.kind in "iu" and (array.dtype != np.uint64 or not array.size or array.max() < 2**63):
        return array.astype(np.int64)
    return [canonical(answer) for answer in array.tolist()]


def _rows(answers: list[Any]) -> Piece:
    plain = [answer.tolist() if isinstance(answer, np.ndarray) else answer for answer in answers]
    is_even = all(isinstance(row, (tuple, list)) for row in plain) and len(set(map(len, plain))) == 1 and plain[0]
    kinds = set(map(type, chain.from_iterable(plain))) if is_even else set()
    if len(kinds) == 1 and kinds <= {int, float, bool}:
        return _numbers(plain, kinds.pop())
    if set(map(type, plain)) <= {tuple, list} and set(map(type, chain.from_iterable(plain))) <= _HASHED_AS_THEY_ARE:
        return list(map(tuple, plain))
    return [canonical(answer) for answer in plain]


def joined(pieces: Sequence[Piece]) -> list[Piece]:
    """The same pieces in one form: all arrays of one kind and width, all of few outcomes, or all lists."""
    arrays = [one for one in pieces if isinstance(one, np.ndarray)]
    forms = {(one.dtype.kind, one.shape[1:]) for one in arrays if len(one)}
    if len(arrays) == len(pieces) and len(forms) == 1:
        return [one for one in arrays if len(one)]
    if all(isinstance(one, Many) for one in pieces):
        return [one for one in pieces if len(one)]
    return [as_objects(one) for one in pieces if len(one)]


def as_objects(one: Piece) -> list[Any]:
    """A piece as a list of canonical outcomes."""
    if isinstance(one, np.ndarray):
        return [canonical(answer) for answer in one.tolist()]
    return list(one) if isinstance(one, Many) else one
