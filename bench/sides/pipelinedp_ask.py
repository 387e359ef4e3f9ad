"""PipelineDP on its local backend: rows in a list of tuples, the public keys as public partitions."""

import logging

import pipeline_dp
import pyarrow.parquet as pq
from asking import COLUMNS, EPSILON, LOWER, UPPER, serve

logging.disable(logging.CRITICAL)
METRICS = {"count": pipeline_dp.Metrics.COUNT, "sum": pipeline_dp.Metrics.SUM, "average": pipeline_dp.Metrics.MEAN}
FIELDS = {"count": "count", "sum": "sum", "average": "mean"}
EXTRACTORS = pipeline_dp.DataExtractors(
    privacy_id_extractor=lambda row: row[0],
    partition_extractor=lambda row: row[1],
    value_extractor=lambda row: row[2],
)


class PipelineDP:
    def __init__(self, table):
        self.table = table
        columns = [pq.read_table(table.file).column(name).to_pylist() for name in ("person", "grp", "value")]
        if table.unit == "row":
            columns[0] = range(table.rows)
        self.rows = list(zip(*columns, strict=True))

    def plan(self, question):
        return lambda: self.ask(question)

    def ask(self, question):
        budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=0)
        engine = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend())
        found = engine.aggregate(
            self.rows, self.params(question), EXTRACTORS, public_partitions=list(range(self.table.groups))
        )
        budget.compute_budgets()
        names = [FIELDS[column] for column in COLUMNS[question]]
        return {key: tuple(float(getattr(values, name)) for name in names) for key, values in found}

    def params(self, question):
        bound = 1 if self.table.unit == "row" else self.table.rows_per_unit
        return pipeline_dp.AggregateParams(
            metrics=[METRICS[column] for column in COLUMNS[question]],
            noise_kind=pipeline_dp.NoiseKind.LAPLACE,
            min_value=LOWER,
            max_value=UPPER,
            **self.bounds(question, bound),
        )

    def bounds(self, question, bound):
        return {"max_contributions": bound}


serve(PipelineDP)
