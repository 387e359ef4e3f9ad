"""A curator far away: the same questions, over a network."""
