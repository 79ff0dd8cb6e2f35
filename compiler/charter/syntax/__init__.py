"""Text to surface tree and back: grammar, parser, comments, formatter."""
