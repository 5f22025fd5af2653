"""Threads: the durable sequences that agents work on, one run at a time."""
