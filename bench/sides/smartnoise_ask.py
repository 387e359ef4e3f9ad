"""SmartNoise SQL over SQLite in memory, its own store for data frames; keys are taken as public.

Where nobody listed the groups, it censors those with few people by itself.
"""

import sqlite3
import warnings

import pyarrow.parquet as pq
from asking import COLUMNS, DELTA, EPSILON, LOWER, UPPER, serve
from snsql import Privacy, from_connection

warnings.simplefilter("ignore")
SPELLED = {
    "count": "COUNT(*) AS n",
    "sum": "SUM(value) AS s",
    "average": "AVG(value) AS a",
    "median": "MEDIAN(value) AS m",
}


class SmartNoise:
    def __init__(self, table):
        self.table = table
        self.database = sqlite3.connect(":memory:")
        self.database.execute("CREATE TABLE t (person INTEGER, grp INTEGER, value NUMERIC)")
        columns = [pq.read_table(table.file).column(name).to_pylist() for name in ("person", "grp", "value")]
        self.database.executemany("INSERT INTO t VALUES (?, ?, ?)", zip(*columns, strict=True))
        self.kind = "int" if isinstance(columns[2][0], int) else "float"

    def plan(self, question):
        asked = ", ".join(SPELLED[column] for column in COLUMNS[question])
        if self.table.groups_per_unit and question == "count":
            asked = "COUNT(DISTINCT person) AS n"
        sql = f"SELECT grp, {asked} FROM main.t GROUP BY grp"
        # Its ε is the price of each column; what the whole query costs is asked first, and divided.
        whole, _ = self.reader(1.0).get_privacy_cost(sql)
        reader = self.reader(EPSILON / whole)
        return lambda: {key: tuple(map(float, values)) for key, *values in reader.execute(sql)[1:]}

    def reader(self, epsilon):
        metadata = {"": {"main": {"t": self.rules()}}}
        privacy = Privacy(epsilon=epsilon, delta=DELTA) if self.table.groups_per_unit else Privacy(epsilon=epsilon)
        return from_connection(self.database, privacy=privacy, metadata=metadata, engine="sqlite")

    def rules(self):
        by_person = self.table.unit == "person"
        return {
            "row_privacy": not by_person,
            "max_ids": (self.table.groups_per_unit or self.table.rows_per_unit) if by_person else 1,
            "censor_dims": bool(self.table.groups_per_unit),
            "person": {"type": "int", "private_id": by_person},
            "grp": {"type": "int"},
            "value": {"type": self.kind, "lower": LOWER, "upper": UPPER},
        }


serve(SmartNoise)
