"""Shows charters, searches and runs in a terminal: what several commands share."""
