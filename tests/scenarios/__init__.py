"""Scenarios: the whole gateway as a process, against loopback platforms."""
