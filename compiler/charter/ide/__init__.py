"""What an editor asks about a charter: texts and positions in, values out. No server is here."""
