"""Rehearsing before there are any rows: policies are enough to plan, price and shape an answer.

>>> from discreet.catalog.policy.read import loads
>>> policy = loads('''
... {table: survey, unit: person, budget: {epsilon: 1},
...  columns: {person: {type: integer}, smokes: {type: boolean, nullable: false}}}
... ''')
>>> answer = rehearse([policy], "SELECT smokes, COUNT(*) AS people FROM survey GROUP BY smokes", epsilon=1)
>>> [row["smokes"] for row in answer.to_rows()], answer.charged
([False, True], False)
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from tempfile import TemporaryDirectory

from discreet.catalog.catalog import Catalog
from discreet.catalog.policy.read import read
from discreet.catalog.table import Table
from discreet.curator.answers.answer import Answer
from discreet.curator.curator import Curator
from discreet.curator.rehearsal.synthetic_rows import MadeUpRows
from discreet.exact.rational import Number
from discreet.query.parse.clock import AsOfStated

__all__ = ["rehearse"]


Policy = Table | str | os.PathLike[str]


def rehearse(
    policies: Iterable[Policy],
    sql: str,
    epsilon: Number | None = None,
    *,
    within: Number | None = None,
    part: Number | None = None,
    as_of: AsOfStated | None = None,
    confidence: Number = 0.95,
    rows: int = 1000,
    raw: bool = False,
) -> Answer:
    """The answer on rows made up from ``policies``: tables, or paths of policy files. Public tables are made up too."""
    catalog = Catalog(policy if isinstance(policy, Table) else read(policy) for policy in policies)
    made_up = MadeUpRows(catalog)
    with TemporaryDirectory(prefix="discreet-rehearsal-") as folder:
        curator = Curator(folder)
        for table in catalog:
            if table.public:
                curator.protect(made_up.of(table.name), table, unread=lambda _: None)
        curator.catalog = catalog  # rows are made up for the others when they are asked about
        answer = curator.rehearse(
            sql, epsilon, within=within, part=part, as_of=as_of, confidence=confidence, rows=rows, raw=raw
        )
        curator.engine.close()
    return answer
