"""Slack: people are heard through events, clicks and commands, and answered by the Web API."""

from adapters.slack.adapter import SlackAdapter, SlackSettings
from adapters.slack.manifest import manifest

__all__ = ["SlackAdapter", "SlackSettings", "manifest"]
