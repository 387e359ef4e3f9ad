"""OpenDP's exact integer noise and noisy max. Fewer draws, because each takes microseconds; times are per draw."""

import numpy as np
import opendp.prelude as dp
from stopwatch import cpu, report

dp.enable_features("contrib")
DRAWS = 20_000
zeros = [0] * DRAWS
results = {}
for scale in (1, 100, 10**6):
    laplace = dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale=float(scale))
    gaussian = dp.m.make_gaussian(dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float), scale=float(scale))
    results[f"laplace scale {scale}"] = cpu(lambda m=laplace: m(zeros), per=DRAWS)
    results[f"gaussian sigma {scale}"] = cpu(lambda m=gaussian: m(zeros), per=DRAWS)

scores = np.random.default_rng(1).integers(0, 1000, 100_000).tolist()
space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
choice = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=10.0)
results["choice among 100000"] = cpu(lambda: choice(scores))
report(results)
