"""What a value looks like that could not be read: expressions that cannot fail, for the owner's count alone.

Patterns are tried in order, and the first that fits names the look. Nothing is read by them: they tell the owner which
setting would.
"""

from __future__ import annotations

from discreet.catalog.column import ColumnType
from discreet.catalog.policy.read import Look
from discreet.catalog.policy.write import find_type
from discreet.engines.parameters import quote_text

__all__ = ["look"]


_NULL_WORDS = r"(?i)(n\.?/?a\.?|#n/a|null|none|nil|nan|missing|unknown|k\.? ?a\.?|\.+|-+|\?+|\*+)"
_SIGN = r"[+-]?"
_NUMBERS = (
    (Look.COMMA_THOUSANDS, rf"{_SIGN}[0-9]{{1,3}}(,[0-9]{{3}})+(\.[0-9]*)?"),
    (Look.POINT_THOUSANDS, rf"{_SIGN}[0-9]{{1,3}}(\.[0-9]{{3}})+(,[0-9]*)?"),
    (Look.OTHER_THOUSANDS, rf"{_SIGN}[0-9]{{1,3}}([ '’_\x{{a0}}\x{{202f}}][0-9]{{3}})+([.,][0-9]*)?"),
    (Look.DECIMAL_COMMA, rf"{_SIGN}[0-9]*,[0-9]+([eE]{_SIGN}[0-9]+)?"),
    (Look.FRACTION, rf"{_SIGN}([0-9]+\.?[0-9]*|\.[0-9]+)([eE]{_SIGN}[0-9]+)?"),
    (Look.WITH_UNIT, r"[^0-9]{0,5}[0-9][0-9.,' ]*[^0-9]{0,10}"),
)
_CLOCK = r"([ T].*)?"
_DATES = (
    (Look.YEAR_LAST, rf"[0-9]{{1,2}}[./ -]([0-9]{{1,2}}|[^\W\d]{{3,}})[./ -] ?[0-9]{{4}}{_CLOCK}"),
    (Look.SHORT_YEAR, rf"[0-9]{{1,2}}[./-][0-9]{{1,2}}[./-][0-9]{{2}}{_CLOCK}"),
    (Look.EIGHT_DIGITS, rf"(19|20)[0-9]{{6}}{_CLOCK}"),
    (Look.DAY_NUMBER, r"[0-9]{4,6}(\.[0-9]*)?"),
)
_PATTERNS = {
    ColumnType.INTEGER: _NUMBERS,
    ColumnType.REAL: _NUMBERS,
    ColumnType.DATE: _DATES,
    ColumnType.TIMESTAMP: _DATES,
}
_THREE_DECIMALS = rf"{_SIGN}[1-9][0-9]{{0,2}}\.[0-9]{{3}}"


def look(value: str, native: str, wanted: ColumnType, cast: str, *, is_stated: bool) -> str:
    """The `Look` of a value that ``cast`` turns into nothing, or reads and may mean something else; else NULL."""
    text = f"trim(CAST({value} AS VARCHAR))"
    is_text = find_type(native) is ColumnType.TEXT
    found = _first(text, (Look.NULL_WORD, _NULL_WORDS), *_PATTERNS.get(wanted, ())) if is_text else "0"
    # An empty field and NaN are how sources spell that a value is missing.
    unread = f"WHEN {cast} IS NULL THEN CASE WHEN CAST({value} AS VARCHAR) NOT IN ('', 'nan') THEN {found} END"
    read = _decimals(text) if is_text and wanted is ColumnType.REAL and not is_stated else ""
    return f"CAST(CASE {unread} {read} END AS TINYINT)"


def _first(text: str, *patterns: tuple[Look, str]) -> str:
    tests = (f"WHEN regexp_full_match({text}, {quote_text(pattern)}) THEN {one.value}" for one, pattern in patterns)
    return f"CASE {' '.join(tests)} ELSE {Look.SOMETHING_ELSE.value} END"


def _decimals(text: str) -> str:
    three = f"regexp_full_match({text}, {quote_text(_THREE_DECIMALS)})"
    return f"WHEN {three} THEN {Look.THREE_DECIMALS.value} WHEN contains({text}, '.') THEN {Look.OTHER_DECIMALS.value}"
