"""What outsiders do with what they see, one attack a file."""
