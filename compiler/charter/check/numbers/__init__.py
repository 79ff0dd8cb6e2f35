"""Checks that numbers stay within their ranges, by intervals and relations between them."""
