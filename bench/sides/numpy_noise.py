"""NumPy's generator: fast, and neither exact nor secure."""

import numpy as np
from stopwatch import cpu, report

DRAWS = 10**6
generator = np.random.default_rng()
results = {}
for scale in (1, 100, 10**6):
    results[f"laplace scale {scale}"] = cpu(lambda s=scale: generator.laplace(0, s, DRAWS), per=DRAWS)
    results[f"gaussian sigma {scale}"] = cpu(lambda s=scale: generator.normal(0, s, DRAWS), per=DRAWS)
report(results)
