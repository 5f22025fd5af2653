"""Steps: the atomic steps of the store, plain functions over Tables, written once."""
