"""The embedded engine: files of rows, ingested and pinned by version."""
