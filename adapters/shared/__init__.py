"""What several adapters need and no platform owns: signatures, splitting, markdown."""
