"""Tumult Analytics on Spark in local mode: rows cached in Spark, the public keys as a key set."""

import os
import sys
import tempfile
import warnings

from asking import EPSILON, LOWER, UPPER, serve
from pyspark.sql import SparkSession
from tmlt.analytics import (
    AddOneRow,
    AddRowsWithID,
    KeySet,
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
        self.session = Session.from_dataframe(PureDPBudget(float("inf")), "t", rows, protected_change=change)
        self.keys = KeySet.from_dict({"grp": list(range(table.groups))})

    def plan(self, question):
        # A session plans when it evaluates.
        return lambda: self.all() if question == "all" else self.one(question, EPSILON)

    def one(self, question, epsilon):
        query = QueryBuilder("t")
        if self.table.unit == "person":
            query = query.enforce(MaxRowsPerID(self.table.rows_per_unit))
        groups = query.groupby(self.keys)
        asked = {
            "count": groups.count,
            "sum": lambda: groups.sum("value", LOWER, UPPER),
            "average": lambda: groups.average("value", LOWER, UPPER),
        }[question]()
        found = self.session.evaluate(asked, PureDPBudget(epsilon)).collect()
        return {row["grp"]: (float(row[1]),) for row in found}

    def all(self):
        # The ratio costs nothing; its own average takes several times as long.
        counts, sums = self.one("count", EPSILON / 2), self.one("sum", EPSILON / 2)
        return {key: (n, sums[key][0], sums[key][0] / max(n, 1.0)) for key, (n,) in counts.items()}


serve(Tumult)
