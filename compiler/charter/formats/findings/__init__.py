"""Reads what adapters and people say about findings that somebody else has to mend."""
