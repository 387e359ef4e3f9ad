"""The outsider's bench: attacks that see only what an outsider sees, run against every defence."""
