"""What trials prove: bounds on probabilities that hold with a confidence that is computed, not hoped for."""
