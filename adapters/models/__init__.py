"""Models: the clients behind the model port, and the offline model of `interlock dev`."""
