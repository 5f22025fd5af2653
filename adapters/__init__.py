"""The seams to the outside: platforms, models and stores, each alone beside its siblings."""
