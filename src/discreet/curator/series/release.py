"""What is released of a series in one period: noisy integers of its groups, and how many people are at the limit."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from discreet.curator.answers.stored import decode_noisy, encode_noisy
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.noise.source import Source
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.run.contribution_bounds import count_at_limit
from discreet.query.run.measure import Measured, Run, measure

__all__ = ["measure_period", "read_at_limit", "read_released"]


def measure_period(plan: AggregationPlan, at_limit: Laplace | Gaussian, run: Run, source: Source) -> bytes:
    """Measure one period, with fresh noise, as the ledger keeps it."""
    released = measure(plan, run, source)
    exact = np.asarray(run(*count_at_limit(plan))["s"].cast(pa.int64()), np.int64)
    noisy = at_limit.add_noise(exact, source.open())
    buffer = io.BytesIO()
    table = pa.table({"at_limit": pa.array(noisy)})
    with pa.ipc.new_stream(buffer, table.schema) as writer:
        writer.write_table(table)
    return encode_noisy([released]) + buffer.getvalue()


def read_released(released: bytes, plan: AggregationPlan) -> Measured:
    """The noisy integers of the groups of one period."""
    return decode_noisy(released, [plan])[0]


def read_at_limit(released: bytes) -> int:
    """The noisy number of people who reached the limit in one period."""
    return int(_streams(released)[1]["at_limit"][0].as_py())


def _streams(released: bytes) -> Sequence[pa.Table]:
    buffer, found = io.BytesIO(released), []
    while buffer.tell() < len(released):
        with pa.ipc.open_stream(buffer) as reader:
            found.append(reader.read_all())
    return found
