"""Modals: the view that asks for a reason, and the way out when it cannot open; pure."""

from typing import Any

from adapters.slack.interactions import (
    REASON_BLOCK,
    REASON_INPUT,
    REJECT_VIEW,
    CardPlace,
    action_id,
)

Json = dict[str, Any]


def render_reject_view(card: CardPlace) -> Json:
    """Return the modal of the Reject button: closing it decides nothing, the reason is optional."""
    return {
        "type": "modal",
        "callback_id": REJECT_VIEW,
        "private_metadata": card.model_dump_json(),
        "title": _plain("Reject"),
        "submit": _plain("Reject"),
        "close": _plain("Cancel"),
        "blocks": [
            {
                "type": "input",
                "block_id": REASON_BLOCK,
                # Required, it would keep people from rejecting without a reason.
                "optional": True,
                "label": _plain("What should change?"),
                "element": {
                    "type": "plain_text_input",
                    "action_id": REASON_INPUT,
                    "multiline": True,
                    "max_length": 3000,
                },
            }
        ],
    }


def render_bare_reject(token: str) -> list[Json]:
    """Return what a clicker privately gets when the modal could not open (architecture.md 8)."""
    return [
        {
            "type": "section",
            "text": {
                "type": "mrkdwn",
                "text": "The form for a reason did not open. You can reject without one.",
            },
        },
        {
            "type": "actions",
            "elements": [
                {
                    "type": "button",
                    "action_id": action_id(token, "reject_bare"),
                    "value": token,
                    "style": "danger",
                    "text": _plain("Reject without a reason"),
                }
            ],
        },
    ]


def _plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}
