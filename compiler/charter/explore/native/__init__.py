"""The native engine: an instance compiled to machine code, searched level by level."""
