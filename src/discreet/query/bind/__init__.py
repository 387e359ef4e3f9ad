"""Names, relations, joins and aggregates: the query cut where privacy begins."""
