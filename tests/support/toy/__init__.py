"""A small protocol, written by hand the way the compiler writes models, to test the judge with.

A keeper grants a lease: nodes register (and get an epoch), one of them is elected, and writes
under its epoch. `charter` is the protocol; the other modules are siblings with one rule changed.
"""
