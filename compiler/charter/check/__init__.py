"""What a charter must obey, and how it becomes core."""
