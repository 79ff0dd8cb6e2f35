"""Answers what an editor requests about a charter: texts and positions in, values out. No server is
here."""
