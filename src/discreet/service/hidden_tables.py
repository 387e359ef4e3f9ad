"""Tables that an analyst may not know of: a question that names one hears what it would hear if there were none.

The curator says that the analyst is not named in the policy, or that a column is misspelled, which tells that there is
such a table. So what it refuses is read again in a catalog without these tables, and what that says is said.
"""

from __future__ import annotations

from discreet.catalog.catalog import Catalog
from discreet.query.multiplicity import CountAlike
from discreet.query.split import split

__all__ = ["check_names"]


def check_names(sql: str, catalog: Catalog, analyst: str, count_alike: CountAlike) -> None:
    """Refuse a question that names a table which the analyst may not know of, as if it were not there."""
    if _has_hidden(catalog, analyst):
        split(sql, catalog.seen_by(analyst), count_alike=count_alike)


def _has_hidden(catalog: Catalog, analyst: str) -> bool:
    return any(not table.public and analyst not in table.analysts for table in catalog)
