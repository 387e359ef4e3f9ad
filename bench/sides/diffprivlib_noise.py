"""diffprivlib's Laplace mechanism, one value at a time, as it offers it."""

from diffprivlib.mechanisms import Laplace
from stopwatch import cpu, report

DRAWS = 5_000
mechanism = Laplace(epsilon=0.01, sensitivity=1)
report({"laplace scale 100": cpu(lambda: [mechanism.randomise(0.0) for _ in range(DRAWS)], per=DRAWS)})
