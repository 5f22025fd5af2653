"""Errors: one tree, so that a caller catches exactly what it can mend.

```
InterlockError
├── InvalidInput            the caller sent something malformed; nothing was done
│   ├── InvalidSignal       a signal's type, tag, attribute or contents
│   └── InvalidConfig       a setting; names file, line and key
├── Unknown                 an id that is not in the store
├── Conflict                a legal request that came too late
│   ├── AlreadyDecided      somebody decided before; says who and when
│   ├── NotSuspended        the call named does not wait for an answer
│   └── ThreadBlocked       the thread takes no more mail
├── NotAllowed              the actor may not do this
├── StoreUnavailable        the store cannot take the write now; try again
├── LeaseLost               another owner runs this thread; stop at once
├── ModelError              the model's server failed; see its subclasses
├── DeliveryError           a chat platform refused or lost a message
└── Fatal                   the process cannot go on
```
"""

from datetime import datetime


class InterlockError(Exception):
    """The root of every error that Interlock raises on purpose."""

    code = "error"
    """Stable word for programs: the `error.code` of the HTTP API."""


class InvalidInput(InterlockError):
    """Something malformed was sent; nothing was stored.

    `fields` maps a path in the input to what is wrong there.
    """

    code = "invalid_input"

    def __init__(self, message: str, *, fields: dict[str, str] | None = None) -> None:
        """Keep the sentence for people and the fields for programs."""
        super().__init__(message)
        # A copy, so that what a caller does with its own mapping changes no error.
        self.fields = dict(fields or {})


class InvalidSignal(InvalidInput):
    """A signal breaks a rule of signals.md 2.1 or 2.2; it was neither routed nor stored."""

    code = "invalid_signal"


class InvalidConfig(InvalidInput):
    """A setting is wrong; the text names file, line and key."""

    code = "invalid_config"


class Unknown(InterlockError):
    """An id names nothing in the store."""

    code = "not_found"


class Conflict(InterlockError):
    """The request was legal but the thing has moved on."""

    code = "conflict"


class AlreadyDecided(Conflict):
    """Somebody decided before; nothing changed."""

    code = "already_decided"

    def __init__(self, message: str, *, by: str, at: datetime | None, outcome: str) -> None:
        """Keep who decided (`by`), when (`at`, UTC) and what (`outcome`)."""
        super().__init__(message)
        self.by = by
        self.at = at
        self.outcome = outcome


class NotSuspended(Conflict):
    """The run or call named does not wait for an answer (agent.md R7, R8)."""

    code = "not_suspended"


class ThreadBlocked(Conflict):
    """The thread's mailbox is full; the channel is told (signals.md 5.5)."""

    code = "thread_blocked"


class NotAllowed(InterlockError):
    """Policy does not let this actor do this."""

    code = "forbidden"


class StoreUnavailable(InterlockError):
    """The store cannot take the write now; nothing was stored, try again."""

    code = "store_unavailable"


class LeaseLost(InterlockError):
    """Another owner holds the thread: the write was refused by its fence."""

    code = "lease_lost"


class ModelError(InterlockError):
    """The model did not answer.

    `retryable` says whether asking again may help; `retry_after` is in seconds when the server
    named it.
    """

    code = "model_error"

    def __init__(
        self, message: str, *, retryable: bool = False, retry_after: float | None = None
    ) -> None:
        """Keep whether and when another attempt makes sense."""
        super().__init__(message)
        self.retryable = retryable
        self.retry_after = retry_after


class ModelAuthError(ModelError):
    """The provider refused the key, or there is none; asking again is useless."""

    code = "model_auth"


class ModelRateLimited(ModelError):
    """The provider asks us to wait."""

    code = "model_rate_limited"


class ModelTimeout(ModelError):
    """One of our own deadlines passed: first token, between chunks, or the whole answer."""

    code = "model_timeout"


class ModelOutputError(ModelError):
    """The answer was not readable, or larger than the caps."""

    code = "model_output"


class DeliveryError(InterlockError):
    """A chat platform refused or lost a message.

    `permanent`: never try again. `uncertain`: it may have been accepted, look before sending again.
    """

    code = "delivery_error"

    def __init__(
        self,
        message: str,
        *,
        permanent: bool = False,
        uncertain: bool = False,
        retry_after: float | None = None,
    ) -> None:
        """Keep what the sender must do next; `retry_after` is in seconds."""
        super().__init__(message)
        self.permanent = permanent
        self.uncertain = uncertain
        self.retry_after = retry_after


class Fatal(InterlockError):
    """The process cannot go on: a port in use, a store held by another process, a wrong version."""

    code = "fatal"
