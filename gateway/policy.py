"""Policy: who may talk and who may decide, by ids alone; closed unless the settings open it."""

from dataclasses import dataclass

from core.approvals.suspension import Suspension
from core.conversation import Conversation, Person
from gateway.addresses import channel_id
from gateway.config import ChannelSection, PolicySection

# Of this machine alone: `dev` binds loopback and nothing else.
CONSOLE_PEOPLE = "console:local:*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The rules of `[policy]`, asked before anything is stored."""

    section: PolicySection
    dev: bool = False
    """In `interlock dev` the people of the console may talk and decide; all else stays closed."""

    def may_talk(self, person: Person, conversation: Conversation | None) -> bool:
        """Say whether this person may talk here: they, their group or the channel is listed."""
        talk = (*self.section.talk, *self._dev_ids())
        if _is_listed(person, talk):
            return True
        return conversation is not None and channel_id(conversation) in talk

    def may_decide(self, person: Person, suspension: Suspension) -> bool:
        """Say whether this person may decide; the channel's own rule replaces the general one.

        No approvers configured means that nobody can. A question is not a decision: whoever may
        talk may answer it.
        """
        if suspension.kind == "question":
            return self.may_talk(person, suspension.conversation)
        approvers = self._approvers(suspension.conversation)
        return _is_listed(person, (*approvers, *self._dev_ids()))

    def channel(self, conversation: Conversation) -> ChannelSection | None:
        """Return what differs in this conversation's channel, if anything."""
        wanted = channel_id(conversation)
        return next((item for item in self.section.channels if item.id == wanted), None)

    def _approvers(self, conversation: Conversation | None) -> tuple[str, ...]:
        channel = self.channel(conversation) if conversation else None
        # An empty list is a rule as well: in that channel nobody decides.
        if channel is not None and channel.approve is not None:
            return channel.approve
        return self.section.approve

    def _dev_ids(self) -> tuple[str, ...]:
        return (CONSOLE_PEOPLE,) if self.dev else ()


def matches(pattern: str, person_id: str) -> bool:
    """Say whether an id fits a pattern; `*` stands for the last part only, and for one part."""
    # Compared whole: an id that begins like another is somebody else.
    if not pattern.endswith(":*"):
        return pattern == person_id
    prefix = pattern.removesuffix("*")
    last = person_id.removeprefix(prefix)
    return person_id.startswith(prefix) and bool(last) and ":" not in last


def _is_listed(person: Person, patterns: tuple[str, ...]) -> bool:
    ids = (person.id, *person.groups)
    return any(matches(pattern, item) for pattern in patterns for item in ids)
