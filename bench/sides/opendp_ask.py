"""OpenDP on Polars: rows in a DataFrame, the public keys as an invariant (unit = row) or a join (unit = person).

Where nobody listed the groups, its threshold on the number of rows decides, which are as many as people there. How many
groups a person is in is told as a fact, which it is: in 0.16.0 `truncate_num_groups` fails where it draws groups, and
keeps one group too few where it takes the first.
"""

import warnings

import opendp.prelude as dp
import polars as pl
from asking import DELTA, EPSILON, LOWER, UPPER, serve

warnings.simplefilter("ignore")
dp.enable_features("contrib")
BOUNDS = (LOWER, UPPER)
QUESTIONS = 80
"""As many as one run asks; each gets the same ε."""
CANDIDATES = {int: list(range(LOWER, UPPER + 1)), float: [k / 10 for k in range(10 * LOWER, 10 * UPPER + 1)]}
"""For medians; others choose among finer ones by themselves."""


class OpenDP:
    def __init__(self, table):
        self.table = table
        self.by_person = table.unit == "person"
        self.rows = pl.read_parquet(table.file)
        self.number = float if self.rows["value"].dtype.is_float() else int
        self.keys = pl.LazyFrame({"grp": range(table.groups)}, schema={"grp": pl.Int64})
        if not table.groups_per_unit:
            # It takes the rows over, which for 10 million takes seconds.
            self.context = self.made(dp.loss_of(epsilon=EPSILON * QUESTIONS), QUESTIONS)

    def made(self, loss, questions):
        return dp.Context.compositor(
            data=self.rows.lazy(),
            privacy_unit=self.unit(),
            privacy_loss=loss,
            split_evenly_over=questions,
            margins=[self.margin(self.by_person)],
        )

    def unit(self):
        if self.table.groups_per_unit:
            bound = dp.polars.Bound(by=["grp"], per_group=1, num_groups=self.table.groups_per_unit)
            return dp.unit_of(contributions=[bound])
        return dp.unit_of(contributions=1, identifier="person" if self.by_person else None)

    def once(self):
        """A context for one question: it does not divide an (ε, δ) among several without an error of rounding."""
        if self.table.noise == "gaussian":
            return self.made(dp.loss_of(rho=self.table.rho, delta=DELTA / 2), 1)
        return self.made(dp.loss_of(epsilon=EPSILON, delta=DELTA), 1)

    def plan(self, question):
        # A release plans again, so planning is part of the answer.
        return lambda: self.answer(question, self.query(question).release().collect())

    def query(self, question):
        if self.table.groups_per_unit:
            return self.once().query().group_by("grp").agg(self.aggregates(question))
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
            "median": [value.dp.median(CANDIDATES[self.number]).alias("median")],
        }
        if self.table.groups_per_unit and question != "count":
            return [*offered["count"], *offered["sum" if question == "average" else question]]
        # The ratio of the other two costs nothing; asked for its mean as well, OpenDP would pay for both again.
        return offered["count"] + offered["sum"] if question == "all" else offered[question]

    def answer(self, question, found):
        if self.table.groups_per_unit and question != "count":
            if question == "average":
                found = found.with_columns(average=pl.col("sum") / pl.max_horizontal(pl.col("count"), 1))
            found = found.select("grp", question)
        if question == "all":
            found = found.with_columns(average=pl.col("sum") / pl.max_horizontal(pl.col("count"), 1))
        return {key: tuple(map(float, values)) for key, *values in found.iter_rows()}


serve(OpenDP)
