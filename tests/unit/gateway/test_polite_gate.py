"""The polite gate: what a person at a chat platform reads when the door stays shut."""

import pytest

from core.conversation import Inbound
from core.errors import (
    AlreadyDecided,
    InvalidInput,
    LeaseLost,
    NotAllowed,
    NotSuspended,
    StoreUnavailable,
    ThreadBlocked,
    Unknown,
)
from core.ports.adapter import Admission, Gate
from core.testing import NOON
from gateway.gate import PoliteGate
from tests.unit.gateway.door import message


class Says(Gate):
    """A gate that answers, or raises, what the test gave it."""

    def __init__(self, answer):
        self.answer = answer

    async def admit(self, inbound: Inbound) -> Admission:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


async def told(answer):
    return await PoliteGate(Says(answer)).admit(message())


@pytest.mark.parametrize(
    ("problem", "outcome"),
    [
        (NotAllowed("Bob may not decide this; ask one of its approvers"), "refused"),
        (Unknown("there is no plan tok_1"), "refused"),
        (ThreadBlocked("the thread is full"), "refused"),
        (NotSuspended("nothing waits"), "refused"),
        (InvalidInput("this plan's text could not be read"), "refused"),
        (AlreadyDecided("Approved by Ada", by="Ada", at=NOON, outcome="approved"), "duplicate"),
    ],
)
async def test_what_no_second_try_can_mend_is_told_in_words(problem, outcome):
    assert await told(problem) == Admission(outcome=outcome, answer=str(problem))


@pytest.mark.parametrize("problem", [StoreUnavailable("full"), LeaseLost("gone"), OSError("?")])
async def test_what_a_second_try_can_mend_is_left_to_the_platform(problem):
    with pytest.raises(type(problem)):
        await told(problem)


async def test_what_was_admitted_is_handed_on_untouched():
    admission = Admission(outcome="accepted", detail={"action": "wake"})
    assert await told(admission) is admission
