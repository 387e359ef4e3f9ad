"""What the page of publications works out without drawing: tables, roles, hierarchies, candidates, comparisons."""
