"""Discreet's side of every measure."""

import subprocess
import sys
import tracemalloc
from fractions import Fraction

import numpy as np
from stopwatch import cpu, report

import discreet as dp
from discreet.noise.gaussian import DiscreteGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.law import Law
from discreet.noise.race import GumbelChoice
from discreet.privacy.loss import GaussianDP, Pure

DRAWS = 10**6
DELTA = 1e-6


def extra_memory(law: Law) -> float:
    """Peak memory of a million draws beyond the output, in multiples of it."""
    law.sample(10)
    tracemalloc.start()
    drawn = law.sample(DRAWS)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return (peak - drawn.nbytes) / drawn.nbytes


def composed(releases: list) -> float:
    return float(dp.Batch(releases).epsilon_at(DELTA))


def import_time() -> float:
    code = "import time; t = time.process_time(); import discreet; print(time.process_time() - t)"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


results: dict[str, dict[str, float]] = {"import": {"cpu": import_time()}}
for scale in (1, 100, 10**6):
    laplace, gaussian = DiscreteLaplace(scale), DiscreteGaussian(scale)
    results[f"laplace scale {scale}"] = cpu(lambda law=laplace: law.sample(DRAWS), per=DRAWS)
    results[f"gaussian sigma {scale}"] = cpu(lambda law=gaussian: law.sample(DRAWS), per=DRAWS)
results["memory laplace"] = {"cpu": 0.0, "ratio": extra_memory(DiscreteLaplace(100))}
results["memory gaussian"] = {"cpu": 0.0, "ratio": extra_memory(DiscreteGaussian(100))}

scores = np.random.default_rng(1).integers(0, 1000, 100_000)
results["choice among 100000"] = cpu(lambda: GumbelChoice(scores, Fraction(1, 10)).first(1))

laplace_once = dp.Laplace(epsilon=Fraction(1, 100)).loss_distribution()
gaussian_once = dp.Gaussian(sigma=100).loss_distribution()
batches = {
    "1000 laplace": [laplace_once] * 1000,
    "1000 gaussian": [gaussian_once] * 1000,
    "1000 laplace and 1000 gaussian": [laplace_once] * 1000 + [gaussian_once] * 1000,
}
exact = {
    "1000 laplace": float(dp.optimal(Pure("0.01"), 1000, DELTA).epsilon),
    "1000 gaussian": float((1000 * GaussianDP("0.01")).epsilon_at(DELTA)),
}
for name, batch in batches.items():
    results[name] = cpu(lambda b=batch: composed(b)) | {"epsilon": composed(batch)}
    if name in exact:
        results[name]["exact"] = exact[name]


def different() -> float:
    laplaces = [dp.Laplace(epsilon=1 / (100 + Fraction(i, 10))).loss_distribution() for i in range(1000)]
    gaussians = [dp.Gaussian(sigma=100 + Fraction(i, 10)).loss_distribution() for i in range(1000)]
    return composed(laplaces + gaussians)


results["2000 different releases"] = cpu(different, repeats=1)
report(results)
