"""Ports: what core asks of the outside, one Protocol each."""
