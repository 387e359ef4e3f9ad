"""For the site: docstrings are sentences, so tables of parameters come from signatures, and examples get fences."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\n)(?!\s*\n).+)*(?:\n\n>>> .*(?:\n(?!\s*\n).+)*)*", re.MULTILINE)
SENTENCE = re.compile(r"(?<=[.;:])\s+")
UNNAMED = ("self", "cls")


class PlainDocstrings(griffe.Extension):
    """Gives every function and method the section on parameters that its docstring does not have."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)
        if isinstance(obj, griffe.Function) and (table := parameters(obj)):
            obj.docstring = obj.docstring or griffe.Docstring("", parent=obj)
            obj.docstring.parsed.append(table)


def fenced(text: str) -> str:
    """Markdown would take the prompt of an example for a quotation."""
    return EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", text)


def parameters(function: griffe.Function) -> griffe.DocstringSectionParameters | None:
    """Each parameter with its type, its default, and the parts of the docstring that speak of it."""
    text = function.docstring.value if function.docstring else ""
    named = [one for one in function.parameters if one.name not in UNNAMED]
    rows = [
        griffe.DocstringParameter(
            one.name, description=about(one.name, text), annotation=one.annotation, value=one.default
        )
        for one in named
    ]
    return griffe.DocstringSectionParameters(rows) if rows else None


def about(name: str, text: str) -> str:
    prose = text.partition("```")[0]
    return " ".join(part.rstrip(";:") for part in SENTENCE.split(prose) if f"`{name}`" in part)
