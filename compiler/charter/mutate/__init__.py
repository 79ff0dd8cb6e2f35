"""Systematic mutation: small mistakes made in the rules of a charter, and which check sees each."""
