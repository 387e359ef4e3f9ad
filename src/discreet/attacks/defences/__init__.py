"""What owners have tried: statistics, limits, refusals, samples, noise, anonymized tables, and the curator."""
