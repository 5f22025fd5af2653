"""Stores: the steps of the store port, and the in-memory store."""
