"""From SQL to a measurement: one pass per file, in an order that reads aloud."""
