"""Compiles an instance to a program: environment, canonical forms, visited set, machine code."""
