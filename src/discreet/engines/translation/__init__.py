"""Plans are written in one language, DuckDB's; here they are read, typed and written again for other engines."""
