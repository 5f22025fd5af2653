"""The process: reads the settings, wires the parts and serves."""
