"""Makes tours: vectors that each ask many transitions of an instance."""
