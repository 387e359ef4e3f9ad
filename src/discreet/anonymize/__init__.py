"""Publishing tables: check and enforce k-anonymity, l-diversity and t-closeness. None of it is differential privacy."""
