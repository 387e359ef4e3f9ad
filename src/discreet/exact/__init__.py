"""Numbers without rounding surprises: rationals, balls with proved bounds, power-of-two grids."""
