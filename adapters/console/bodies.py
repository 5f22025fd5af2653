"""Bodies: what the API's JSON may say, field by field; unknown fields are refused."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from core.messages import FilePart, TextPart

Cell = str | int | float | bool
Part = Annotated[TextPart | FilePart, Field(discriminator="type")]
# As long as an id in a path may be.
Key = Field(default=None, min_length=1, max_length=255)


class Body(BaseModel):
    """The base: camelCase (or snake_case) as sent, nothing coerced, nothing unknown."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        # A number sent as a text is a mistake to hear of, not to mend silently.
        strict=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
    )

    def spec(self, *left_out: str) -> dict[str, Any]:
        """Return what was sent, in camelCase, without the fields named."""
        return self.model_dump(
            mode="json", by_alias=True, exclude_unset=True, exclude_none=True, exclude=set(left_out)
        )


class ActiveBody(Body):
    """`ifActive`: what to do while a run is going."""

    behavior: Literal["deliver", "persist", "discard"] | None = None
    attributes: dict[str, Cell] | None = None


class IdleBody(Body):
    """`ifIdle`: what to do while none is."""

    behavior: Literal["wake", "persist", "discard"] | None = None
    attributes: dict[str, Cell] | None = None
    stream_options: dict[str, Any] | None = None


class SignalBody(Body):
    """A signal; `id` or the header `Idempotency-Key` names it for ever."""

    id: str | None = Key
    type: str | None = None
    tag_name: str | None = None
    contents: str | list[Part]
    attributes: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    provider_options: dict[str, Any] | None = None
    transient: bool | None = None
    if_active: ActiveBody | None = None
    if_idle: IdleBody | None = None
    agent_id: str | None = Key
    run_id: str | None = Key


class MessageBody(SignalBody):
    """A message; `queue` lets it wait for the next turn."""

    queue: bool = False


class NotificationBody(Body):
    """An event for the inbox; its routing is the delivery policy's."""

    # Both the record's id and the key under which it is taken once.
    id: str | None = Key
    source: str = Field(min_length=1, max_length=255)
    kind: str = Field(min_length=1, max_length=255)
    summary: str = Field(min_length=1)
    priority: Literal["low", "medium", "high", "urgent"] | None = None
    payload: Any = None
    source_id: str | None = None
    dedupe_key: str | None = None
    coalesce_key: str | None = None
    attributes: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    agent_id: str | None = Key


class ThreadBody(Body):
    """What may be changed of a thread; `metadata` is merged by key."""

    agent_id: str | None = Key
    title: str | None = Field(default=None, max_length=200)
    metadata: dict[str, Any] | None = None


class DecisionBody(Body):
    """The answer to a plan."""

    id: str | None = Key
    action: Literal["approved", "rejected"]
    feedback: str | None = Field(default=None, max_length=20_000)


class ResumeBody(Body):
    """The answer to a paused call; falsy data is data too (agent.md R12)."""

    id: str | None = Key
    tool_call_id: str | None = Key
    data: Any


class SessionBody(Body):
    """Who somebody at the console is: a known id, or a name."""

    person: str = Field(min_length=1, max_length=200)
