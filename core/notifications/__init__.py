"""Notifications: outside events kept for a thread, and when they are told."""
