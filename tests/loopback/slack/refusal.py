"""Refusals: what Slack answers instead of doing it, and what a control call is refused with."""

from __future__ import annotations

from collections.abc import Sequence


class SlackRefusal(Exception):
    """A Web API call that Slack refuses with an error code."""

    def __init__(self, code: str, messages: Sequence[str] = ()) -> None:
        """Keep the code and the lines of `response_metadata.messages`."""
        super().__init__(code, *messages)
        self.code = code
        self.messages = list(messages)

    def body(self) -> dict[str, object]:
        """Return the JSON body Slack answers with."""
        body: dict[str, object] = {"ok": False, "error": self.code}
        if self.messages:
            body["response_metadata"] = {"messages": self.messages}
        return body


class NotPossible(Exception):
    """A person cannot do that in Slack: the button is not there, the field is required."""
