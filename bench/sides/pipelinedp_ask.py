"""PipelineDP on its local backend: rows in a list of tuples, the public keys as public partitions.

Where nobody listed the groups, the number of people decides, after its noise where people are asked for.
"""

import logging

import pipeline_dp
import pyarrow.parquet as pq
from asking import COLUMNS, DELTA, EPSILON, LOWER, UPPER, serve

logging.disable(logging.CRITICAL)
METRICS = {
    "count": pipeline_dp.Metrics.COUNT,
    "sum": pipeline_dp.Metrics.SUM,
    "average": pipeline_dp.Metrics.MEAN,
    "median": pipeline_dp.Metrics.PERCENTILE(50),
    "people": pipeline_dp.Metrics.PRIVACY_ID_COUNT,
}
FIELDS = {"count": "count", "sum": "sum", "average": "mean", "median": "percentile_50", "people": "privacy_id_count"}
KINDS = {"laplace": pipeline_dp.NoiseKind.LAPLACE, "gaussian": pipeline_dp.NoiseKind.GAUSSIAN}
THRESHOLDS = {
    "laplace": pipeline_dp.PartitionSelectionStrategy.LAPLACE_THRESHOLDING,
    "gaussian": pipeline_dp.PartitionSelectionStrategy.GAUSSIAN_THRESHOLDING,
}
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
        unknown = bool(self.table.groups_per_unit)
        asked = ["people"] if unknown and question == "count" else COLUMNS[question]
        budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=DELTA if unknown else 0)
        engine = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend())
        listed = None if unknown else list(range(self.table.groups))
        found = engine.aggregate(self.rows, self.params(asked), EXTRACTORS, public_partitions=listed)
        budget.compute_budgets()
        names = [FIELDS[column] for column in asked]
        return {key: tuple(float(getattr(values, name)) for name in names) for key, values in found}

    def params(self, asked):
        return pipeline_dp.AggregateParams(
            metrics=[METRICS[column] for column in asked],
            noise_kind=KINDS[self.table.noise],
            min_value=LOWER,
            max_value=UPPER,
            **self.bounds(asked),
        )

    def bounds(self, asked):
        if self.table.groups_per_unit:
            return {"max_partitions_contributed": self.table.groups_per_unit} | self.choosing(asked)
        bound = 1 if self.table.unit == "row" else self.table.rows_per_unit
        if "median" in asked:  # for which it does not bound the rows of a person in all groups together
            return {"max_partitions_contributed": bound, "max_contributions_per_partition": 1}
        return {"max_contributions": bound}

    def choosing(self, asked):
        """What suits best: one noisy number for both where people are asked for; else what keeps most groups."""
        found = {"max_contributions_per_partition": 1, "post_aggregation_thresholding": asked == ["people"]}
        if asked == ["people"] or self.table.noise == "gaussian":
            found["partition_selection_strategy"] = THRESHOLDS[self.table.noise]
        return found


serve(PipelineDP)
