"""Signals: typed input for threads: creation, rendering, routing."""
