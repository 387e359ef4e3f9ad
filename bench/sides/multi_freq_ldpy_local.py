"""multi-freq-ldpy, one person at a time, as it offers it (compiled by numba before the clock runs)."""

import random

from stopwatch import cpu, report

EPSILON, CATEGORIES = 1.0, 100
USERS = 5_000


def oracles() -> dict:
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
    from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
    from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI, SS_Client
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client

    return {
        "GRR": (GRR_Client, lambda reports: GRR_Aggregator_MI(reports, CATEGORIES, EPSILON), {}),
        "SUE": (UE_Client, lambda reports: UE_Aggregator_MI(reports, EPSILON, optimal=False), {"optimal": False}),
        "OUE": (UE_Client, lambda reports: UE_Aggregator_MI(reports, EPSILON), {}),
        "OLH": (LH_Client, lambda reports: LH_Aggregator_MI(reports, CATEGORIES, EPSILON), {}),
        "subset": (SS_Client, lambda reports: SS_Aggregator_MI(reports, CATEGORIES, EPSILON), {}),
    }


def collect(client, aggregate, options: dict) -> None:
    aggregate([client(answer, CATEGORIES, EPSILON, **options) for answer in answers])


answers = [random.randrange(CATEGORIES) for _ in range(USERS)]
results = {}
try:
    known = oracles()
except Exception as problem:
    known = {}
    results["all"] = {"failed": f"{type(problem).__name__}: {problem}"}
for name, parts in known.items():
    try:
        parts[0](0, CATEGORIES, EPSILON, **parts[2])
        results[name] = cpu(lambda parts=parts: collect(*parts), repeats=2, per=USERS)
    except Exception as problem:
        results[name] = {"failed": f"{type(problem).__name__}: {problem}"}
report(results)
