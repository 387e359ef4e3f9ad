"""SQL text to one parsed SELECT, with the place of every word."""
