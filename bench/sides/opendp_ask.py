"""OpenDP on Polars: rows in a DataFrame, the public keys as an invariant (unit = row) or a join (unit = person)."""

import warnings

import opendp.prelude as dp
import polars as pl
from asking import EPSILON, LOWER, UPPER, serve

warnings.simplefilter("ignore")
dp.enable_features("contrib")
BOUNDS = (LOWER, UPPER)
QUESTIONS = 80
"""As many as one run asks; each gets the same ε."""


class OpenDP:
    def __init__(self, table):
        self.table = table
        self.by_person = table.unit == "person"
        rows = pl.read_parquet(table.file)
        self.number = float if rows["value"].dtype.is_float() else int
        self.keys = pl.LazyFrame({"grp": range(table.groups)}, schema={"grp": pl.Int64})
        self.context = dp.Context.compositor(  # takes the rows over, which for 10 million takes seconds
            data=rows.lazy(),
            privacy_unit=dp.unit_of(contributions=1, identifier="person" if self.by_person else None),
            privacy_loss=dp.loss_of(epsilon=EPSILON * QUESTIONS),
            split_evenly_over=QUESTIONS,
            margins=[self.margin(self.by_person)],
        )

    def plan(self, question):
        # A release plans again, so planning is part of the answer.
        return lambda: self.answer(question, self.query(question).release().collect())

    def query(self, question):
        query = self.context.query()
        if self.by_person:
            query = query.truncate_per_group(self.table.rows_per_unit)
        query = query.group_by("grp").agg(self.aggregates(question))
        return query.with_keys(self.keys) if self.by_person else query

    def margin(self, by_person):
        known = {} if by_person else {"invariant": "keys"}
        return dp.polars.Margin(by=["grp"], max_length=self.table.rows, max_groups=self.table.groups, **known)

    def aggregates(self, question):
        bounds = tuple(map(self.number, BOUNDS))
        value = pl.col("value").fill_null(bounds[0])
        if self.number is float:
            value = value.fill_nan(bounds[0])
        offered = {
            "count": [dp.len(signed=True).alias("count")],
            "sum": [value.dp.sum(bounds).alias("sum")],
            "average": [value.dp.mean(bounds).alias("average")],
        }
        # The ratio of the other two costs nothing; asked for its mean as well, OpenDP would pay for both again.
        return offered["count"] + offered["sum"] if question == "all" else offered[question]

    def answer(self, question, found):
        if question == "all":
            found = found.with_columns(average=pl.col("sum") / pl.max_horizontal(pl.col("count"), 1))
        return {key: tuple(map(float, values)) for key, *values in found.iter_rows()}


serve(OpenDP)
