"""What recoding loses: what a search minimises, and what a release lost."""
