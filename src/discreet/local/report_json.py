"""Reports as JSON: numbers as numbers, bits and other bytes as hexadecimal digits, one entry per report."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidType, InvalidValue
from discreet.local.layout import Field
from discreet.local.terms import Terms
from discreet.local.upload import Columns, check_fingerprint

__all__ = ["read_json", "written_json"]


def written_json(terms: Terms, columns: Columns, with_terms: bool) -> str:
    """The reports as one JSON object."""
    found: dict[str, Any] = {"fingerprint": terms.fingerprint}
    if with_terms:
        found["terms"] = terms.to_dict()
    found["reports"] = {one.name: _listed(one, columns[one.name]) for one in terms.layout}
    return json.dumps(found, separators=(",", ":"), ensure_ascii=False)


def read_json(text: str | bytes, terms: Terms | None) -> tuple[Terms, Columns]:
    """The terms and the columns; ``terms`` are those of the server."""
    try:
        found = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise InvalidValue("reports must be JSON", "<another text>", "if it was cut off, send it again") from None
    if not isinstance(found, dict) or set(found) - {"terms"} != {"fingerprint", "reports"}:
        raise InvalidType("reports in JSON must have a fingerprint and reports, and perhaps terms", "<others>")
    agreed = _agreed(found.get("terms"), terms)
    check_fingerprint(found["fingerprint"], agreed)
    listed = found["reports"]
    if not isinstance(listed, dict) or set(listed) != {one.name for one in agreed.layout}:
        raise InvalidType(f"reports must have {', '.join(one.name for one in agreed.layout)}", "<others>")
    return agreed, {one.name: _array(one, listed[one.name]) for one in agreed.layout}


def _agreed(written: Any, wanted: Terms | None) -> Terms:
    if written is None:
        if wanted is None:
            raise InvalidValue("reports without terms must be read with terms=", "<none>")
        return wanted
    found = Terms.from_dict(written)
    if wanted is not None:
        wanted.check_same(found)
    return found


def _listed(field: Field, column: npt.NDArray[Any]) -> list[int] | list[str]:
    return [row.tobytes().hex() for row in column] if field.width > 1 else column.tolist()


def _array(field: Field, listed: Any) -> npt.NDArray[Any]:
    if not isinstance(listed, list):
        raise InvalidType(f"{field.name} must be a list", f"<a {type(listed).__name__}>")
    return _from_digits(field, listed) if field.width > 1 else _from_numbers(field, listed)


def _from_digits(field: Field, listed: list[Any]) -> npt.NDArray[Any]:
    wanted = 2 * field.width
    try:
        if any(len(digits) != wanted for digits in listed):
            raise ValueError
        return np.frombuffer(bytes.fromhex("".join(listed)), field.dtype).reshape(field.shape(len(listed)))
    except (TypeError, ValueError):
        raise InvalidValue(f"{field.name} must be {wanted} hexadecimal digits for each report", "<others>") from None


def _from_numbers(field: Field, listed: list[Any]) -> npt.NDArray[Any]:
    ends = np.iinfo(field.dtype)
    if not all(type(number) is int and ends.min <= number <= ends.max for number in listed):
        raise InvalidValue(f"{field.name} must be whole numbers from {ends.min} to {ends.max}", "<others>")
    return np.asarray(listed, field.dtype)
