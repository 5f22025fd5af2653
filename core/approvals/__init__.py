"""Approvals: runs that wait for a person, and the decisions they get."""
