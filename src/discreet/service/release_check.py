"""Whether a release meets what is stated about it, found from its own bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from discreet.anonymize.check import check
from discreet.anonymize.check_report import CheckReport
from discreet.anonymize.models.model import Model
from discreet.anonymize.release import refuse_other_columns
from discreet.anonymize.roles import Roles
from discreet.anonymize.source import arrow_table
from discreet.anonymize.wanted_models import Wanted
from discreet.catalog.draft import type_of
from discreet.errors import DiscreetError, InvalidValue
from discreet.service.uploads import Upload

__all__ = ["LARGEST_RELEASE", "checked_facts", "stated"]

LARGEST_RELEASE = 100_000_000
"""How many bytes a release may have: all of it is in memory while it is checked."""


def stated(
    columns: Iterable[str], quasi: Sequence[str], sensitive: Sequence[str], letters: Mapping[str, Any]
) -> tuple[Roles, list[Model]]:
    """The roles of some columns, and the models that letters such as k and l stand for."""
    roles = Roles.of(columns, quasi=quasi, sensitive=sensitive)
    return roles, Wanted(**letters).models(roles)


def checked_facts(
    kept: Upload, roles: Roles, models: Sequence[Model], reference: pa.Table | None = None
) -> dict[str, Any]:
    """What was checked about a release, as the ledger states it; one that does not meet its models is refused."""
    found = _checked(kept, roles, models, reference)
    named = {
        "quasi": found.roles.quasi,
        "sensitive": found.roles.sensitive,
        "identifying": found.roles.identifying,
        "insensitive": found.roles.insensitive,
    }
    return {
        "models": [verdict.model.name for verdict in found.verdicts],
        "roles": {role: list(names) for role, names in named.items() if names},
        "rows": found.rows,
        "classes": found.classes.count,
        "smallest_class": found.k,
        "file": kept.path.suffix.removeprefix("."),
        "bytes": kept.size,
    }


def _checked(kept: Upload, roles: Roles, models: Sequence[Model], reference: pa.Table | None) -> CheckReport:
    if not models:
        rule = "a publication must state a model that it meets"
        raise InvalidValue(rule, "<none>", "k-anonymity with k = 5, for example")
    table = _table(kept)
    identifying = [name for name in roles.identifying if name in table.column_names]
    if identifying:
        raise InvalidValue("a column that names people is never published", identifying[0], "drop it")
    left = replace(roles, identifying=())
    refuse_other_columns(table, left)
    found = check(table, left, models, reference=reference)
    for verdict in found.verdicts:
        if not verdict.holds:
            rule = f"a publication must meet what is stated about it, and {verdict.model.name} does not hold"
            got = f"<{verdict.violating_rows:,} rows in {verdict.violating_classes:,} classes that break it>"
            raise InvalidValue(rule, got, "recode it further, or state what it meets")
    return found


def _table(kept: Upload) -> pa.Table:
    if kept.size > LARGEST_RELEASE:
        raise InvalidValue(f"a release must have at most {LARGEST_RELEASE:,} bytes", kept.size)
    strange = [name for name, words in kept.schema.columns.items() if type_of(words) is None]
    if strange:
        raise InvalidValue("a release has columns of plain values", strange[0], "drop it, or write it as text")
    try:
        return arrow_table(kept.path)
    except DiscreetError as refusal:
        value = kept.path.name if refusal.value == str(kept.path) else refusal.value
        raise InvalidValue(refusal.rule.replace(str(kept.path), kept.path.name), value, refusal.remedy) from None
    except (pa.ArrowException, OSError, ValueError):
        raise InvalidValue("a release must be readable as a table", kept.path.name) from None
