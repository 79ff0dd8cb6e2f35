"""What is written for people: results, progress, errors."""
