"""Projects of users: what `conform init` writes."""
