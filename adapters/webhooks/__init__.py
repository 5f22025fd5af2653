"""Webhooks: outside sources bring their events in, each under its own signature."""

from adapters.webhooks.routes import WebhooksAdapter
from adapters.webhooks.settings import WebhookSettings

__all__ = ["WebhookSettings", "WebhooksAdapter"]
