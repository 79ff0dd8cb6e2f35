"""Recognizes frequent mistakes of authors where the parser fails, and words the errors."""
