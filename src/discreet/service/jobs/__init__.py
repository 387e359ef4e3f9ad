"""Accepted questions: requests, jobs, a fair queue, worker threads."""
