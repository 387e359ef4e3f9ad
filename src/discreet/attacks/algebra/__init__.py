"""What exact or noisy answers disclose, by linear algebra and logic."""
