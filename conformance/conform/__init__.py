"""The judge: puts vectors to implementations and says where they leave the charter."""
