"""Judges implementations: puts vectors to them and says where they leave the charter."""
