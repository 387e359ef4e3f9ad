"""Made-up data for demonstrations."""
