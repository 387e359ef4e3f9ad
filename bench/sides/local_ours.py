"""Discreet's frequency oracles: a million people, 100 categories, ε = 1, from answers to estimates."""

import numpy as np
from stopwatch import cpu, report

import discreet as dp

USERS, CATEGORIES, EPSILON = 10**6, 100, 1
answers = np.random.default_rng(1).integers(0, CATEGORIES, USERS)
ORACLES = {
    "GRR": dp.local.GeneralizedResponse,
    "SUE": dp.local.SymmetricUnary,
    "OUE": dp.local.OptimalUnary,
    "OLH": dp.local.LocalHashing,
    "Hadamard": dp.local.HadamardResponse,
    "subset": dp.local.SubsetSelection,
}


def collect(oracle: dp.local.FrequencyOracle) -> np.ndarray:
    return oracle.estimate(oracle.privatize(answers)).shares


results = {}
for name, kind in ORACLES.items():
    oracle = kind(EPSILON, range(CATEGORIES))
    results[name] = cpu(lambda oracle=oracle: collect(oracle), per=USERS)
    estimates = oracle.estimate(oracle.privatize(answers))
    results[f"{name} intervals"] = cpu(lambda estimates=estimates: estimates.intervals(), repeats=1)
report(results)
