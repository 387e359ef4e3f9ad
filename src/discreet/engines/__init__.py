"""Where rows stay: one contract for every engine, and the embedded store that is used when nobody names another."""
