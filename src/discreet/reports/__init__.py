"""Reports: one document of plain values, rendered for the terminal, as a page that stands alone, and as JSON."""
