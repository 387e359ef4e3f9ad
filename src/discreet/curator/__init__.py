"""The only way from rows to answers: policy, price, charge, run, receipt."""
