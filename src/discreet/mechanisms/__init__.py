"""The mechanisms: one per file, with its proof sheet beside it."""
