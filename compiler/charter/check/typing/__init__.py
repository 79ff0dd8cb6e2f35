"""Types expressions and statements: surface trees become core."""
