"""The tests, and the loopback world they run against."""
