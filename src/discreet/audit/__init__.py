"""Does the code keep its promise: exact checks where the law is known, confident lower bounds elsewhere."""
