"""One report about a table or a release: its content, and its renderers."""
