"""The curator as a server: many analysts, and nobody learns more than they would from the library."""
