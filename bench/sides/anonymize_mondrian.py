"""Discreet's Mondrian on the Adult table and on larger ones like it: loss, classes, CPU time."""

import sys

import numpy as np
import pyarrow as pa
from adult import QUASI, SENSITIVE, hierarchy_files, table_file
from stopwatch import cpu, report

from discreet.anonymize.hierarchies.builders import read_arx_csv
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.models.l_diversity import DistinctDiversity
from discreet.anonymize.models.t_closeness import Closeness
from discreet.anonymize.recode.mondrian import mondrian
from discreet.anonymize.recode.recoding import Recoded
from discreet.anonymize.recode.taxonomy_mondrian import taxonomy_mondrian
from discreet.anonymize.roles import Roles
from discreet.anonymize.table import arrow_table

FOLDER = sys.argv[1]
TABLE = arrow_table(table_file(FOLDER))
ROLES = Roles.of(TABLE.column_names, quasi=QUASI, sensitive=SENSITIVE)
HIERARCHIES = {name: read_arx_csv(file) for name, file in hierarchy_files(FOLDER).items()}
DIVERSE, CLOSE = DistinctDiversity(SENSITIVE, 2), Closeness(SENSITIVE, 0.2)


def enlarged(rows: int) -> pa.Table:
    """Rows of the table drawn again and again; half of the cells are from another row, so that few rows are equal."""
    draw = np.random.default_rng(0)
    base = draw.integers(0, TABLE.num_rows, rows)
    columns = [
        column.take(pa.array(np.where(draw.random(rows) < 0.5, base, draw.integers(0, TABLE.num_rows, rows))))
        for column in TABLE.columns
    ]
    return pa.table(columns, names=TABLE.column_names).combine_chunks()


def measured(fit, repeats: int = 3) -> dict[str, float]:
    """CPU time from the table in memory to the released rows, and what was found."""
    found: list[Recoded] = []
    taken = cpu(lambda: found.append(fit()), repeats)
    return taken | {"loss": found[-1].loss, "classes": found[-1].classes.count}


def strict(table: pa.Table, k: int, repeats: int = 3) -> dict[str, float]:
    return measured(lambda: mondrian(table, ROLES, KAnonymity(k), hierarchies=HIERARCHIES), repeats)


def along(*models) -> dict[str, float]:
    return measured(lambda: taxonomy_mondrian(TABLE, ROLES, HIERARCHIES, models))


results = {f"strict, k={k}": strict(TABLE, k) for k in (5, 10)}
results["strict, 300,000 rows, k=5"] = strict(enlarged(300_000), 5, 2)
results["strict, 1,000,000 rows, k=5"] = strict(enlarged(1_000_000), 5, 1)
results |= {f"along hierarchies, k={k}": along(KAnonymity(k)) for k in (5, 10)}
results["along hierarchies, k=10, l=2, t=0.2"] = along(KAnonymity(10), DIVERSE, CLOSE)
report(results)
