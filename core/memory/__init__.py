"""Memory: what of a thread's history reaches the model."""
