"""From noisy integers to an answer table with confidence intervals."""
