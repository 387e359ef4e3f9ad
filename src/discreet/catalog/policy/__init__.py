"""Policy files: read, written, and drafted from a schema."""
