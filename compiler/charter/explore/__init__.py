"""Model checking of an instance: the native engine, the reference engine, and the choice."""
