"""Manifest: the Slack app that Interlock needs, as `interlock manifest slack` prints it."""

SCOPES = (
    "app_mentions:read",
    "channels:history",
    "channels:read",
    "chat:write",
    "commands",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "im:write",
    "mpim:history",
    "mpim:read",
    "reactions:read",
    "reactions:write",
    "usergroups:read",
    "users:read",
)
EVENTS = (
    "app_mention",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
    "user_change",
)

_MANIFEST = """\
# Create the app from this at https://api.slack.com/apps (Create New App, From a manifest).
# A manifest has no key for Delayed Events: switch them on under Event Subscriptions, so that
# Slack keeps trying for 24 hours when the gateway was down.
display_information:
  name: Interlock
  description: AI agents as colleagues; nothing dangerous before a human pulls the lever.
features:
  app_home:
    home_tab_enabled: false
    messages_tab_enabled: true
    messages_tab_read_only_enabled: false
  bot_user:
    display_name: Interlock
    always_online: true
  slash_commands:
    - command: /interlock
{command_url}      description: Ask, stop, or see what can be done
      usage_hint: ask ... | stop | help
      should_escape: true
oauth_config:
  scopes:
    bot:
{scopes}
settings:
  event_subscriptions:
{request_url}    bot_events:
{events}
  interactivity:
    is_enabled: true
{request_url}  org_deploy_enabled: false
  socket_mode_enabled: {socket_mode}
  token_rotation_enabled: false
"""


def manifest(*, public_url: str | None = None) -> str:
    """Return the app manifest as YAML: over HTTP at the public URL, else in Socket Mode.

    Socket Mode needs an app-level token with `connections:write` (`SLACK_APP_TOKEN`).
    """
    url = f"{public_url.rstrip('/')}/slack/events" if public_url else ""
    return _MANIFEST.format(
        command_url=f"      url: {url}\n" if url else "",
        request_url=f"    request_url: {url}\n" if url else "",
        scopes=_items(SCOPES),
        events=_items(EVENTS),
        socket_mode="false" if url else "true",
    )


def _items(names: tuple[str, ...]) -> str:
    return "\n".join(f"      - {name}" for name in names)
