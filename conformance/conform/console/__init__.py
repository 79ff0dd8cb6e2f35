"""Output for people: results, progress, errors."""
