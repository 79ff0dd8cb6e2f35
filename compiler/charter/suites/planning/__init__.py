"""Plans the vectors of one instance."""
