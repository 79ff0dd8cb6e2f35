"""What core is turned into. Each backend is a stranger to the others; all may use text.py."""
