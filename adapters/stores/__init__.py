"""Stores: where an Interlock keeps its rows, one package for each database."""
