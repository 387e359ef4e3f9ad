"""The page of the settings of the service, from the settings themselves."""

from __future__ import annotations

import typing
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

from discreet.service.settings import PREFIX, Settings

_ABOUT = f"""# Settings of the service

What `discreet serve` can be told: in a TOML file (`--config FILE`, or the variable `DISCREET_CONFIG`), in variables
named `{PREFIX}` and the setting's name in capitals, and some of it in flags. A flag wins over a variable, and a
variable over the file. A name that is no setting is refused. Paths are relative to where the command runs. In a
variable, words of a list are separated by commas and paths by colons.

*Generated from the code by `make docs`.*

```toml
folder = "/var/lib/discreet"
hosts = ["discreet.example.org"]
behind_proxy = ["127.0.0.1"]
```

| setting | what it is | kind | default |
| --- | --- | --- | --- |
"""


def settings_page() -> str:
    """Every setting with its meaning, kind, limits and default."""
    return _ABOUT + "".join(_row(name, field) for name, field in Settings.model_fields.items())


def _row(name: str, field: FieldInfo) -> str:
    return f"| `{name}` | {field.description} | {_kind(field)} | {_shown(field.default)} |\n"


def _kind(field: FieldInfo) -> str:
    stated = [(words, getattr(one, name, None)) for one in field.metadata for name, words in _LIMITS.items()]
    limits = [f"{words} {limit:,}" for words, limit in stated if limit is not None]
    return ", ".join([_type(field.annotation), *limits])


_LIMITS = {"ge": "at least", "gt": "more than", "le": "at most"}


def _type(kind: Any) -> str:
    parts = typing.get_args(kind)
    if typing.get_origin(kind) is typing.Literal:
        return " or ".join(f"`{part}`" for part in parts)
    if typing.get_origin(kind) is tuple:
        return f"list of {_type(parts[0])}s"
    if type(None) in parts:
        return _type(parts[0])
    return {str: "text", bool: "true or false", int: "whole number", float: "number", Path: "path"}[kind]


def _shown(value: Any) -> str:
    if value is None or value == ():
        return "none"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"
