"""Noisy integers as bytes: what the ledger keeps of an answer, and all that an answer is ever computed from."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa

from discreet.query.measure import Measured
from discreet.query.question import Question

__all__ = ["restored", "stored"]


def stored(measured: list[Measured]) -> bytes:
    """The noisy values of every block, as one Arrow stream per block."""
    buffer = io.BytesIO()
    for one in measured:
        columns = {f"s{k}": pa.array(values) for k, values in enumerate(one.sums)}
        columns |= {f"c{k}": pa.array(values) for k, values in enumerate(one.chosen)}
        table = pa.table(columns)
        with pa.ipc.new_stream(buffer, table.schema) as writer:
            writer.write_table(table)
    return buffer.getvalue()


def restored(data: bytes, question: Question) -> list[Measured]:
    """The same values again, in the shape of the question that they answer."""
    buffer = io.BytesIO(data)
    found = []
    for plan in question.plans:
        with pa.ipc.open_stream(buffer) as reader:
            table = reader.read_all()
        sums = [np.asarray(table[f"s{k}"]) for k in range(len(plan.components))]
        chosen = [np.asarray(table[f"c{k}"]) for k in range(len(plan.choices))]
        found.append(Measured(plan, plan.groups or [()], sums, chosen))
    return found
