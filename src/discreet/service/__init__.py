"""The curator as a server: many analysts, one door, and nobody learns more than they would from the library."""
