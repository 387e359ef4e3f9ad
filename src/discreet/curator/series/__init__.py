"""Standing series: a question that is answered for every period when it closes."""
