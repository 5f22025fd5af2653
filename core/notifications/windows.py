"""Windows: the digest windows of each conversation, found for the thread that owns it."""

from collections.abc import Sequence
from typing import Protocol

from core.ids import ThreadKey
from core.notifications.digest import DigestWindow
from core.threads.thread import Binding


class BindingReader(Protocol):
    """What is needed of the store: where a thread's people are."""

    async def bindings(self, thread_id: str) -> list[Binding]:
        """See ThreadStore."""


class ConversationWindows:
    """Digest windows as people configure them: for a conversation, not for a thread."""

    def __init__(self, *, store: BindingReader, listed: Sequence[DigestWindow] = ()) -> None:
        """Take the store, and every window with the conversation that it is for."""
        self._store = store
        self._listed = tuple(listed)

    async def __call__(self, key: ThreadKey) -> Sequence[DigestWindow]:
        """Return the windows of the thread's conversations."""
        if not self._listed:
            return ()
        bindings = await self._store.bindings(key.thread_id)
        addresses = {binding.address for binding in bindings}
        return [
            window
            for window in self._listed
            if window.conversation is not None and window.conversation.key in addresses
        ]
