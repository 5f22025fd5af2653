"""Slack: people are heard through events, clicks and commands, and answered by the Web API."""
