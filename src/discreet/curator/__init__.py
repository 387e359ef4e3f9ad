"""The only door out: policy, price, charge, run, receipt."""
