"""Runs: executions of the loop, as sequences of committed steps."""
