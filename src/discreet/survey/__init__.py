"""Surveys that people can answer truthfully: answers are made noisy in the browser, and the server keeps reports."""
