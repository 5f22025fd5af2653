"""Benchmarks: what the product does per second, as ratios of two sides measured in one run."""
