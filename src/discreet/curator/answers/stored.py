"""Noisy integers as bytes: what the ledger keeps of an answer, and all that an answer is ever computed from."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.run.measure import Groups, Measured, public_groups

__all__ = ["decode_noisy", "encode_noisy"]


def encode_noisy(measured: list[Measured]) -> bytes:
    """The noisy values of every block, as one Arrow stream per block; keys only where they are not public."""
    buffer = io.BytesIO()
    for one in measured:
        shown = one.groups.columns() if one.plan.releases_keys else []
        columns = {f"k{k}": column for k, column in enumerate(shown)}
        columns |= {f"s{k}_{j}": pa.array(v) for k, part in enumerate(one.sums) for j, v in enumerate(part)}
        columns |= {f"c{k}": pa.array(values) for k, values in enumerate(one.chosen)}
        table = pa.table(columns)
        with pa.ipc.new_stream(buffer, table.schema) as writer:
            writer.write_table(table)
    return buffer.getvalue()


def decode_noisy(data: bytes, plans: Sequence[AggregationPlan]) -> list[Measured]:
    """The same values again, in the shape of the plans that they were measured by."""
    buffer = io.BytesIO(data)
    found = []
    for plan in plans:
        with pa.ipc.open_stream(buffer) as reader:
            table = reader.read_all()
        groups = Groups.shown(plan.block.keys, table) if plan.releases_keys else public_groups(plan)
        sums = [
            [np.asarray(table[f"s{k}_{j}"]) for j in range(priced.part.size)] for k, priced in enumerate(plan.parts)
        ]
        chosen = [np.asarray(table[f"c{k}"]) for k in range(len(plan.choices) + (plan.top is not None))]
        found.append(Measured(plan, groups, sums, chosen))
    return found
