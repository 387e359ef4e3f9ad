"""What ε means, in words, figures and charts that anybody can read, with their own numbers filled in."""
