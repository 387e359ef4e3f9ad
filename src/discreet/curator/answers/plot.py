"""An answer as a picture: bars for groups, points along dates and numbers, each with its error bar.

Libraries that not everybody needs: loaded when they are used, missed in words that say what to install.
"""

from __future__ import annotations

import math
from datetime import date
from decimal import Decimal
from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet.errors import InvalidValue, MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from discreet.curator.answers.answer import Answer

__all__ = ["extra", "plot_answer"]


def extra(module: str, name: str) -> Any:
    """The module, or an error that says which extra of Discreet brings it."""
    try:
        return import_module(module)
    except ImportError:
        library = module.partition(".")[0]
        raise MissingExtra(f"this needs {library}", "<not installed>", f"pip install 'discreet[{name}]'") from None


_CROWDED = 8
_LONG = 12
_LONGEST = 24
_THOUSAND = 1000


def plot_answer(answer: Answer, column: str | None, axes: Axes | None) -> Axes:
    """Draw one column of the answer over its groups."""
    name = _drawn(answer, column)
    values, reaches = _values(answer, name)
    keys = _keys(answer, name)
    places = _scale(answer, keys)
    drawn: Any = axes if axes is not None else extra("matplotlib.pyplot", "plot").subplots(layout="constrained")[1]
    if places is not None:
        drawn.errorbar(places, values, yerr=reaches, fmt="o", capsize=3)
        if isinstance(places[0], date):
            drawn.figure.autofmt_xdate()
    else:
        _bars(drawn, _labels(answer, keys), values, reaches)
    drawn.set_xlabel(_plain(", ".join(keys)))
    drawn.set_ylabel(_plain(name))
    drawn.yaxis.set_major_formatter(_tick)
    if any(map(math.isfinite, reaches[1])):
        drawn.set_title(f"error bars hold at least {100 * answer.confidence:.6g} % of the time", fontsize="small")
    return drawn  # type: ignore[no-any-return]  # matplotlib came in by name


def _drawn(answer: Answer, column: str | None) -> str:
    """The column to draw: the one that was named, else the first with error bars, else the first number."""
    names = answer.table.column_names
    numbers = [name for name in names if any(_is_number(value) for value in answer.table[name].to_pylist())]
    wanted = column if column is not None else next((n for n in numbers if n in answer.error), next(iter(numbers), ""))
    if wanted not in numbers:
        remedy = f"columns of numbers: {', '.join(numbers)}" if numbers else "the answer holds no number"
        raise InvalidValue("a plot draws a column of numbers", column if column is not None else "<none>", remedy)
    return wanted


def _keys(answer: Answer, name: str) -> list[str]:
    """The columns that name a group: those without error bars, and of several not the ratios."""
    plain = [other for other in answer.table.column_names if other not in answer.error and other != name]
    named = [key for key in plain if not any(isinstance(v, (float, Decimal)) for v in answer.table[key].to_pylist())]
    return named or plain[:1]


def _values(answer: Answer, name: str) -> tuple[list[float], tuple[list[float], list[float]]]:
    """The values, and how far their error bars reach down and up; nothing is drawn where a value is not finite."""
    found = [float(value) if _is_number(value) else math.nan for value in answer.table[name].to_pylist()]
    below, above = [], []
    for value, interval in zip(found, answer.error.get(name, [None] * len(found)), strict=True):
        is_known = interval is not None and all(map(math.isfinite, interval))
        low, high = interval if interval is not None and is_known else (math.nan, math.nan)
        below.append(value - min(low, value) if is_known else math.nan)
        above.append(max(high, value) - value if is_known else math.nan)
    return found, (below, above)


def _scale(answer: Answer, keys: list[str]) -> list[Any] | None:
    """Where the points lie when the one key is a date or a number; None when groups have names."""
    if len(keys) != 1:
        return None
    places = answer.table[keys[0]].to_pylist()
    ordered = all(isinstance(place, date) for place in places) or all(_is_number(place) for place in places)
    return places if places and ordered else None


def _labels(answer: Answer, keys: list[str]) -> list[str]:
    if not keys:
        return [""] * answer.table.num_rows
    return [", ".join(answer.cell(key, row) for key in keys) for row in range(answer.table.num_rows)]


def _bars(axes: Any, labels: list[str], values: list[float], reaches: tuple[list[float], list[float]]) -> None:
    axes.bar(range(len(values)), values, yerr=reaches, capsize=3, color="#9ecae1", edgecolor="#3182bd")
    is_tight = len(labels) > _CROWDED or max(map(len, labels), default=0) > _LONG
    spelled = [_plain(_short(label)) for label in labels]
    if len(values) == 1:
        axes.set_xlim(-1.5, 1.5)
    axes.set_xticks(range(len(values)), spelled, rotation=45 if is_tight else 0, ha="right" if is_tight else "center")


def _plain(text: str) -> str:
    """Text as it is: a dollar sign would start a formula."""
    return text.replace("$", r"\$")


def _short(label: str) -> str:
    return label if len(label) <= _LONGEST else label[: _LONGEST - 1] + "…"


def _tick(value: float, position: int | None) -> str:
    return f"{value:,.0f}" if abs(value) >= _THOUSAND else f"{value:g}"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool) and math.isfinite(value)
