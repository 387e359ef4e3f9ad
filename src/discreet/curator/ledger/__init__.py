"""The ledger: accounts, charges, records in a hash chain, checkpoints, verification."""
