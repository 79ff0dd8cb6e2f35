"""The checks of a charter, and its elaboration into core."""
