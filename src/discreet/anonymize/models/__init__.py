"""The models of anonymity: one per file, each computed for all classes at once. None is differential privacy."""
