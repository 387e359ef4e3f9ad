"""The description of the API, for programs and as a page for people.

Every operation says which problems it answers with. The page has no scripts, and nothing from other hosts.
"""

from __future__ import annotations

import re
from html import escape
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, ConfigDict, Field

from discreet.reports.html import paragraph, quiet, section, table

__all__ = ["MORE_STYLE", "OPERATIONS", "ProblemBody", "describe_api", "render_api_page"]


_ABOUT = (
    "Questions to a curator that answers with calibrated noise. Send the token that an owner issued in the header"
    " `Authorization: Bearer …`. Whatever is refused is told as a problem (RFC 9457), of one shape on every route."
)
_TAGS = {
    "me": "Who is signed in.",
    "tables": "What is public about the tables, and what was spent on them.",
    "asking": "Prices, questions and answers.",
    "ledger": "What was released, and its certificates.",
    "audit trail": "Who signed in and who changed what, and the signed head, for owners and auditors.",
    "periods": "Tables that grow: rows that are appended, periods and their closes.",
    "owning": "Tables, policies and who may ask, for owners.",
    "members": "Members and their tokens, for owners.",
    "suspensions": "Who cannot ask because a question failed, and the owner's lift.",
    "publications": "Tables that were published, for owners.",
    "metrics": "Counts that do not depend on rows.",
    "health": "Whether the service can answer.",
}

OPERATIONS = {
    "GET /api/v1/me": "me",
    "POST /api/v1/sign-in": "sign_in",
    "GET /api/v1/members": "members",
    "POST /api/v1/members": "add_member",
    "DELETE /api/v1/members": "remove_member",
    "GET /api/v1/tokens": "tokens",
    "POST /api/v1/tokens": "issue_token",
    "DELETE /api/v1/tokens/{id}": "revoke_token",
    "POST /api/v1/explain": "explain",
    "POST /api/v1/ask": "ask",
    "GET /api/v1/jobs/{request_id}": "job",
    "GET /api/v1/answers": "answers",
    "GET /api/v1/answers/{request_id}": "answer",
    "GET /api/v1/answers/{request_id}/certificate": "certificate",
    "GET /api/v1/tables": "tables",
    "POST /api/v1/tables": "protect",
    "GET /api/v1/tables/{name}": "table",
    "GET /api/v1/tables/{name}/periods": "periods",
    "POST /api/v1/tables/{name}/periods/{period}/close": "close",
    "POST /api/v1/tables/{name}/rows": "append",
    "DELETE /api/v1/tables/{name}/units": "forget_unit",
    "GET /api/v1/budget": "budget",
    "GET /api/v1/spending": "spending",
    "GET /api/v1/typical-questions": "typical_questions",
    "GET /api/v1/ledger": "ledger",
    "GET /api/v1/ledger/verification": "verification",
    "GET /api/v1/ledger/{entry}/certificate": "certificate",
    "POST /api/v1/uploads": "send",
    "DELETE /api/v1/uploads/{id}": "forget",
    "POST /api/v1/policies/draft": "draft",
    "POST /api/v1/policies/check": "check",
    "GET /api/v1/policies": "policy",
    "GET /api/v1/holdings": "holdings",
    "PUT /api/v1/analysts": "allow",
    "DELETE /api/v1/analysts": "disallow",
    "GET /api/v1/publications": "publications",
    "POST /api/v1/publications": "publish",
    "GET /api/v1/publications/{publication}/file": "release",
    "GET /api/v1/suspensions": "suspensions",
    "POST /api/v1/suspensions/{record}/lift": "lift",
    "GET /api/v1/trail": "trail",
    "GET /api/v1/trail/verification": "trail_verification",
    "GET /api/v1/head": "signed_head",
    "GET /api/v1/metrics": "metrics",
    "GET /health/live": "live",
    "GET /health/ready": "ready",
}
"""What each operation is called. Programs that were made from the description call operations by these names."""


class ProblemBody(BaseModel):
    """Why a request was refused (RFC 9457)."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(description="The kind of problem, `urn:discreet:…`, or `about:blank` where the status says it.")
    title: str = Field(description="The status in words.")
    status: int = Field(description="The status of the answer.")
    detail: str = Field(description="What is wrong, and what would work.")
    rule: str | None = Field(None, description="The rule that was broken.")
    value: str | None = Field(None, description="What was found instead.")
    remedy: str | None = Field(None, description="What would work.")
    line: int | None = Field(None, description="The line of a question where it was broken, from 1.")
    column: int | None = Field(None, description="The character in that line, from 1.")
    problems: list[dict[str, Any]] | None = Field(None, description="All of them, where there are several.")


def describe_api(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI description of ``app``."""
    found = get_openapi(title=app.title, version=app.version, description=_ABOUT, routes=app.routes)
    schemas = found.setdefault("components", {}).setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):  # the shape that we do not use
        schemas.pop(name, None)
    schemas["Problem"] = ProblemBody.model_json_schema(ref_template="#/components/schemas/{model}")
    for path, operations in found["paths"].items():
        for method, operation in operations.items():
            operation["operationId"] = _operation_id(method, path)
            _document_problems(path, operation)
    used = {tag for operations in found["paths"].values() for one in operations.values() for tag in one.get("tags", [])}
    found["tags"] = [{"name": name, "description": words} for name, words in _TAGS.items() if name in used]
    return found


def _operation_id(method: str, path: str) -> str:
    name = OPERATIONS.get(f"{method.upper()} {path}")
    if name is None:
        raise AssertionError(f"every operation must have a name of its own in OPERATIONS, {method.upper()} {path} too")
    return re.sub(r"\W", "_", f"{name}{path}_{method}")


def _document_problems(path: str, operation: dict[str, Any]) -> None:
    statuses = {HTTPStatus.INTERNAL_SERVER_ERROR}
    if "security" in operation:
        statuses |= {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS}
        statuses |= {HTTPStatus.SERVICE_UNAVAILABLE}
    if "{" in path:
        statuses |= {HTTPStatus.NOT_FOUND}
    if "parameters" in operation or "requestBody" in operation:
        statuses |= {HTTPStatus.UNPROCESSABLE_ENTITY}
    if "requestBody" in operation:
        statuses |= {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE}
    if path.endswith("/ask"):
        statuses |= {HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.CONFLICT}
    responses = operation["responses"]
    stated = {int(status) for status in responses if status.isdigit() and int(status) >= HTTPStatus.BAD_REQUEST}
    for status in sorted({one.value for one in statuses} | stated):
        said = responses.get(str(status), {}).get("description") if status in stated - {422} else None
        responses[str(status)] = _refusal(said or HTTPStatus(status).phrase)
    responses["default"] = _refusal("Any other problem.")
    operation["responses"] = dict(sorted(responses.items()))


def _refusal(words: str) -> dict[str, Any]:
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {"description": words, "content": content}


MORE_STYLE = "h3{margin-top:2rem}code{overflow-wrap:anywhere}p{overflow-wrap:break-word}"
"""What the page needs beside the style of all pages."""


def render_api_page(description: dict[str, Any], style: str) -> str:
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
