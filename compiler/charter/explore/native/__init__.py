"""Compiles an instance to machine code and searches it level by level: the native engine."""
