"""Starting: the files of a new project, as `interlock init` writes them."""

import os
from pathlib import Path

from core.errors import InvalidConfig

CONFIG = """# Interlock's settings. Secrets do not belong here: see .env.example.
agents_module = "agents.py"

[store]
url = "sqlite:///.interlock/interlock.db"

# [model]
# default = "openai/gpt-5-mini"        # or INTERLOCK_MODEL

[policy]                               # closed unless said: ids only
talk = []                              # "slack:T0001:*", "slack:T0001:U0001"
approve = []                           # who may press Approve and Reject

# [[subscriptions]]                    # which outside topics reach which channel
# topic = "github:acme/app"
# to = "slack:T0001:C0001"

# [[digests]]
# to = "slack:T0001:C0001"
# at = "0 9 * * mon-fri"
# zone = "Europe/Berlin"
"""

AGENTS = '''"""The agents of this gateway."""

from core import Agent, ToolContext, tool


@tool
async def coin(context: ToolContext) -> str:
    """Toss a coin."""
    return "heads" if hash(context.tool_call_id) % 2 else "tails"


agents = [
    Agent(
        id="helper",
        name="Helper",
        instructions="Help the team. Before you change anything, write a plan and submit it.",
        tools=["clock", "write_plan", "submit_plan", "write_note", "notification_inbox", coin],
    )
]
'''

ENVIRONMENT = """# Copy to .env and fill in what you use.
# INTERLOCK_MODEL=openai/gpt-5-mini
# OPENAI_API_KEY=
# SLACK_BOT_TOKEN=
# SLACK_SIGNING_SECRET=
# SLACK_APP_TOKEN=
# GITHUB_WEBHOOK_SECRET=
# INTERLOCK_API_TOKEN=
"""

FILES = {"interlock.toml": CONFIG, "agents.py": AGENTS, ".env.example": ENVIRONMENT}


def write_project(folder: Path) -> list[Path]:
    """Write the files of a new project; returns their paths.

    Raises:
        InvalidConfig: one of them is there already; nothing is written then.
    """
    if folder.exists() and not folder.is_dir():
        raise InvalidConfig(f"{folder} is a file; name a folder for the new project")
    # A link counts, even one that leads nowhere: writing would follow it.
    present = [name for name in FILES if os.path.lexists(folder / name)]
    if present:
        raise InvalidConfig(f"{folder / present[0]} is there already; nothing was written")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in FILES]
