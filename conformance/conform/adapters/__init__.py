"""Ways to talk to an adapter: a child process (stdio), or in this process (direct)."""
