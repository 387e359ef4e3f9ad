"""``discreet ledger show`` says in words what owners did."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from typer.testing import CliRunner

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.cli.main import app
from discreet.curator.curator import Curator


def test_caps_analysts_and_publications_are_shown_in_words(tmp_path: Path) -> None:
    curator = Curator(tmp_path)
    columns = (Column("age", ColumnType.INTEGER, lower=0, upper=110),)
    curator.protect(pa.table({"age": [3]}), Table("visits", columns, budget=Budget(3, "1e-6")))
    curator.allow("visits", "ann", Budget(1, "1e-6"), by="olga")
    curator.allow("visits", "ann", Budget(2, "1e-6"), by="olga")
    curator.disallow("visits", "ann")
    curator.record_publication(name="wards", approved_by="olga", sha256="ab" * 32, statement={"k": 5})
    shown = CliRunner().invoke(app, ["ledger", "show", "-c", str(tmp_path)]).output
    words = [line.split(maxsplit=2)[2].rstrip() for line in shown.splitlines()]
    assert words == [
        "start",
        "account  opened visits",
        "account  opened visits/ann",
        "analyst  ann may ask about visits, says olga",
        "cap      visits/ann may spend ρ 0.088152 in all, says olga",
        "analyst  ann may ask no more about visits",
        "publication published wards with infinite loss, approved by olga",
    ]
