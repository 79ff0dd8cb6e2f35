"""Makes conformance vectors from core: questions, the automata of allowed outcomes, and the
ledger."""
