"""What is promised: losses, neighbours, sensitivities, and what they mean for one person."""
