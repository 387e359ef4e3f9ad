"""The page of the API, from its description."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from discreet.service.app import application
from discreet.service.settings import Settings
from discreet.service.state import ServiceState

_ABOUT = """# The API

{about}

The same description for programs is at `/api/v1/openapi.json`, and as a page of the service at `/api/v1/docs`.

*Generated from the code by `make docs`.*
"""


def rest_page() -> str:
    """Every operation: what it takes, what it answers, which problems it tells."""
    with tempfile.TemporaryDirectory() as folder:
        service = ServiceState(Settings.model_validate({"folder": Path(folder)}))
        found = application(service).openapi()
        service.close()
    parts = [_ABOUT.format(about=found["info"]["description"])]
    parts += [_tag(found, tag) for tag in found["tags"]]
    return "\n".join([*parts, _problem(found)])


def _tag(found: dict[str, Any], tag: dict[str, str]) -> str:
    lines = [f"## {tag['name']}", "", tag["description"], ""]
    for path, operations in found["paths"].items():
        for method, operation in operations.items():
            if tag["name"] in operation["tags"]:
                lines += _operation(found, f"{method.upper()} {path}", operation)
    return "\n".join(lines)


def _operation(found: dict[str, Any], title: str, operation: dict[str, Any]) -> list[str]:
    lines = [f"### `{title}`", "", f"{operation['summary']}. {operation['description']}", ""]
    lines += [_taken(one["name"], one["in"], one) for one in operation.get("parameters", [])]
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        lines += [_taken(name, f"in {kind}", field) for name, field in _fields(found, content["schema"]).items()]
    answers = [_answer(found, status, one) for status, one in operation["responses"].items() if status[0] == "2"]
    problems = ", ".join(status for status in operation["responses"] if status[0] in "45")
    return [*lines, *([""] if lines[-1] else []), f"Answers {'; '.join(answers)}. Problems: {problems}.", ""]


def _taken(name: str, where: str, about: dict[str, Any]) -> str:
    return f"- `{name}` ({where}): {about.get('description', '')}".rstrip(": ")


def _fields(found: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    fields: dict[str, Any] = found["components"]["schemas"].get(name, schema).get("properties", {})
    return fields


def _answer(found: dict[str, Any], status: str, answer: dict[str, Any]) -> str:
    content = answer.get("content", {})
    fields = [name for one in content.values() for name in _fields(found, _one_of(one.get("schema", {})))]
    kinds = " or ".join(f"`{kind}`" for kind in content)
    named = f" with {', '.join(f'`{name}`' for name in fields)}" if fields else ""
    return f"{status}{f' {kinds}' if kinds else ''}{named}"


def _one_of(schema: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = schema.get("items", schema)
    return found


def _problem(found: dict[str, Any]) -> str:
    fields = found["components"]["schemas"]["Problem"]["properties"]
    lines = ["## Problems", "", "What every refusal says, as `application/problem+json`.", ""]
    lines += [f"- `{name}`: {field['description']}" for name, field in fields.items()]
    return "\n".join(lines) + "\n"
