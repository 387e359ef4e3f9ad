"""Who can be found in a release, and what a reader can still find out."""
