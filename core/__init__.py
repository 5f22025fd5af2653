"""The agent runtime: it knows nobody, and everything else is built on it."""
