"""Z3 in the roles where search cannot go: see `questions` for what can be asked."""
