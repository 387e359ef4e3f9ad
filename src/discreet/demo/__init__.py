"""Made-up data and scenes for demonstrations."""
