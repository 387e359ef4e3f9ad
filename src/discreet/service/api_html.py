"""The description of the API as a page that people read: no scripts, and nothing from other hosts."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from discreet.pages.page import paragraph, quiet, section, table

__all__ = ["MORE_STYLE", "html_of"]

MORE_STYLE = "h3{margin-top:2rem}code{overflow-wrap:anywhere}p{overflow-wrap:break-word}"
"""What the page needs beside the style of all pages."""


def html_of(description: dict[str, Any], style: str) -> str:
    """A page about an OpenAPI description, with the style sheet at ``style``."""
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f'<title>{escape(description["info"]["title"])}: the API</title><link rel="stylesheet" href="{escape(style)}">'
    )
    about = re.sub("`([^`]*)`", r"<code>\1</code>", paragraph(description["info"]["description"]))
    parts = [_tag(description, tag["name"], tag["description"]) for tag in description["tags"]]
    body = f"<main><h1>The API</h1>{about}{''.join(parts)}{_problem(description)}</main>"
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def _tag(description: dict[str, Any], name: str, words: str) -> str:
    """Every operation of one tag."""
    found = [
        _operation(method, path, operation, description)
        for path, operations in description["paths"].items()
        for method, operation in operations.items()
        if name in operation.get("tags", [])
    ]
    return section(name.capitalize(), quiet(words), *found)


def _operation(method: str, path: str, operation: dict[str, Any], description: dict[str, Any]) -> str:
    title = f"<h3><code>{method.upper()} {escape(path)}</code></h3>"
    words = paragraph(f"{operation['summary']}. {operation.get('description', '')}".strip())
    return title + words + _parameters(operation) + _body(operation, description) + _answers(operation)


def _parameters(operation: dict[str, Any]) -> str:
    rows = [
        [f"<code>{escape(one['name'])}</code>", escape(one["in"]), escape(one.get("description", ""))]
        for one in operation.get("parameters", [])
    ]
    return table(["parameter", "in", "what it is"], rows) if rows else ""


def _body(operation: dict[str, Any], description: dict[str, Any]) -> str:
    rows = [
        [f"<code>{escape(name)}</code>", escape(kind), escape(field.get("description", ""))]
        for kind, content in operation.get("requestBody", {}).get("content", {}).items()
        for name, field in _fields(content.get("schema", {}), description).items()
    ]
    return table(["field", "sent as", "what it is"], rows) if rows else ""


def _fields(schema: dict[str, Any], description: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    found: dict[str, Any] = description["components"]["schemas"].get(name, schema).get("properties", {})
    return found


def _answers(operation: dict[str, Any]) -> str:
    kinds = [
        f"{status} {', '.join(answer.get('content', {})) or answer['description']}"
        for status, answer in operation["responses"].items()
        if status.startswith("2")
    ]
    problems = ", ".join(status for status in operation["responses"] if status[0] in "45")
    return quiet(f"Answers {'; '.join(kinds)}. Problems: {problems}, and others.")


def _problem(description: dict[str, Any]) -> str:
    fields = description["components"]["schemas"]["Problem"]["properties"]
    rows = [[f"<code>{escape(name)}</code>", escape(field["description"])] for name, field in fields.items()]
    return section(
        "Problems", quiet("What every refusal says, as application/problem+json."), table(["field", ""], rows)
    )
