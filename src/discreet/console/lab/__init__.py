"""The page Lab: attacks and audits."""
