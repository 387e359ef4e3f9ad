"""Tumult Analytics on Spark in local mode: rows cached in Spark, the public keys as a key set.

Where nobody listed the groups, half of ε and all of δ choose them, and the other half of ε is for the numbers in them.
"""

import os
import sys
import tempfile
import warnings

from asking import DELTA, EPSILON, LOWER, UPPER, serve
from pyspark.sql import SparkSession
from tmlt.analytics import (
    AddOneRow,
    AddRowsWithID,
    ApproxDPBudget,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    MaxRowsPerID,
    PureDPBudget,
    QueryBuilder,
    Session,
)

warnings.simplefilter("ignore")
os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
SETTINGS = {
    "spark.driver.memory": "6g",
    "spark.sql.shuffle.partitions": "2",  # the default of 200 would take longer on one machine
    "spark.sql.warehouse.dir": tempfile.mkdtemp(),
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


class Tumult:
    def __init__(self, table):
        self.table = table
        builder = SparkSession.builder.master("local[2]")
        for name, value in SETTINGS.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("ERROR")
        rows = spark.read.parquet(table.file).cache()
        rows.count()
        change = AddRowsWithID("person") if table.unit == "person" else AddOneRow()
        whole = ApproxDPBudget(float("inf"), 1) if table.groups_per_unit else PureDPBudget(float("inf"))
        self.session = Session.from_dataframe(whole, "t", rows, protected_change=change)
        self.keys = KeySet.from_dict({"grp": list(range(table.groups))})

    def plan(self, question):
        # A session plans when it evaluates.
        if self.table.groups_per_unit:
            return lambda: self.from_nobodys_list(question)
        return lambda: self.all() if question == "all" else self.one(question, PureDPBudget(EPSILON), self.keys)

    def from_nobodys_list(self, question):
        found = self.session.evaluate(self.bounded().get_groups("grp"), ApproxDPBudget(EPSILON / 2, DELTA))
        return self.one(question, ApproxDPBudget(EPSILON / 2, 0), KeySet.from_dataframe(found))

    def bounded(self):
        query = QueryBuilder("t")
        if self.table.groups_per_unit:
            groups = MaxGroupsPerID("grp", self.table.groups_per_unit)
            return query.enforce(groups).enforce(MaxRowsPerGroupPerID("grp", 1))
        return query.enforce(MaxRowsPerID(self.table.rows_per_unit)) if self.table.unit == "person" else query

    def one(self, question, budget, keys):
        groups = self.bounded().groupby(keys)
        asked = {
            "count": groups.count,
            "sum": lambda: groups.sum("value", LOWER, UPPER),
            "average": lambda: groups.average("value", LOWER, UPPER),
            "median": lambda: groups.median("value", LOWER, UPPER),
        }[question]()
        found = self.session.evaluate(asked, budget).collect()
        return {row["grp"]: (float(row[1]),) for row in found}

    def all(self):
        # The ratio costs nothing; its own average takes several times as long.
        half = PureDPBudget(EPSILON / 2)
        counts, sums = self.one("count", half, self.keys), self.one("sum", half, self.keys)
        return {key: (n, sums[key][0], sums[key][0] / max(n, 1.0)) for key, (n,) in counts.items()}


serve(Tumult)
