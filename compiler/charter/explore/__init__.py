"""Model checking of an instance: the interface, two engines, and the choice."""
