"""The native engine: an instance compiled to machine code and searched breadth first."""
