"""Privacy before collection: what a device reports, and what a server may conclude from the reports."""
