"""The outbox: replies committed before they are sent."""
