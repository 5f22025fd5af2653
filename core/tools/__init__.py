"""Tools: what an agent can do, and the wrappers around it."""
