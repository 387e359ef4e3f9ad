"""What is public about the tables: columns, bounds, keys, whose rows they are, and who may spend what."""
