"""Strangers: whatever they send, by whichever adapter, nothing is stored (S8, T7, T10)."""

from dataclasses import dataclass

import pytest
from pydantic import SecretStr

from adapters.console.samples import STRANGER as CONSOLE_STRANGER
from adapters.console.samples import handlers as console_handlers
from adapters.slack.samples import samples as slack_handlers
from adapters.webhooks import WebhooksAdapter, WebhookSettings
from core.conversation import (
    Conversation,
    Inbound,
    InboundDecision,
    InboundEvents,
    InboundResume,
    Person,
)
from core.ids import thread_key
from gateway.config import PolicySection
from gateway.gate import GatewayGate, PoliteGate
from tests.unit.gateway.door import PLAN_SCRIPT, Door, message, open_door, signal

FRIEND = Person(id="slack:T0SAMPLE:U0FRIEND", name="Ada", platform="slack")
PLACE = Conversation(platform="slack", tenant="T0SAMPLE", channel="C0SAMPLE", root="1.000000")
RULES = PolicySection(
    talk=(FRIEND.id, "api:token", "console:local:*"), approve=(FRIEND.id, "api:token")
)
SAMPLES = {f"console {one.name}": one.sample for one in console_handlers()} | {
    one.name: one.sample for one in slack_handlers()
}


def webhook_handlers(gate=None):
    settings = WebhookSettings(github=(SecretStr("a secret of sixteen or more"),))
    return WebhooksAdapter(settings, gate=gate).handlers()


@dataclass(frozen=True, kw_only=True)
class House:
    """A gateway where a plan waits in the very places that the samples aim at."""

    door: Door
    token: str
    run_id: str

    def aimed(self, sample: Inbound) -> Inbound:
        """Return the sample aimed at the plan that really waits, where it names one."""
        if isinstance(sample, InboundDecision):
            return sample.model_copy(update={"token": self.token})
        if isinstance(sample, InboundResume):
            return sample.model_copy(update={"run_id": self.run_id})
        return sample


@pytest.fixture
async def house():
    async with open_door(*PLAN_SCRIPT, *PLAN_SCRIPT, rules=RULES) as door:
        await door.admit(message("plan it", sender=FRIEND, conversation=PLACE))
        await door.admit(signal(resource_id="console:local", thread_id="main"))
        [plan, _] = await door.waiting()
        yield House(door=door, token=plan.token, run_id=plan.run_id)


@pytest.mark.parametrize("name", SAMPLES)
async def test_a_stranger_leaves_no_trace_whatever_they_send(house, name):
    before, asked = await house.door.stored(), len(house.door.model.requests)
    for sample in (SAMPLES[name], house.aimed(SAMPLES[name])):
        admission = await house.door.polite.admit(sample)
        await house.door.runtime.idle()
        assert admission.outcome == "refused"
    assert await house.door.stored() == before
    assert len(house.door.model.requests) == asked


@pytest.mark.parametrize("name", SAMPLES)
async def test_the_same_from_a_friend_is_let_in(house, name):
    """Else the test above would prove nothing: the samples could be refused for what they are."""
    sample = house.aimed(SAMPLES[name])
    friend = PROGRAM_FRIEND if sample.sender == CONSOLE_STRANGER else FRIEND
    if isinstance(sample, InboundResume):
        sample = sample.model_copy(update={"data": {"action": "approved"}})
    admission = await house.door.polite.admit(sample.model_copy(update={"sender": friend}))
    assert admission.outcome == "accepted"


async def test_a_webhook_is_nobody_and_is_known_by_its_signature_alone(house):
    """Exempt from the rule: it has no sender, the adapter has verified the raw bytes before.

    Unsigned bytes never become an inbound: tests/unit/adapters/webhooks.
    """
    [handler] = webhook_handlers()
    assert isinstance(handler.sample, InboundEvents)
    before = await house.door.stored()
    admission = await house.door.polite.admit(handler.sample)
    assert (admission.outcome, admission.detail) == ("accepted", {"threads": 0})
    assert await house.door.stored() == before


def test_every_way_in_has_a_sample():
    kinds = {type(sample) for sample in SAMPLES.values()} | {
        type(one.sample) for one in webhook_handlers()
    }
    ways = GatewayGate(runtime=None, policy=None, inbox=None)._ways
    assert kinds == set(ways)


async def test_somebody_of_another_workspace_is_a_stranger_in_a_shared_channel(house):
    """PB-049, T12: the person's own team decides, not that of the channel."""
    guest = Person(id="slack:T0OTHER:U0FRIEND", platform="slack")
    before = await house.door.stored()
    refused = await house.door.polite.admit(message(sender=guest, conversation=PLACE))
    assert refused.outcome == "refused"
    assert await house.door.stored() == before


async def test_a_name_does_not_make_a_stranger_somebody(house):
    """T11: rules go by ids."""
    forged = CONSOLE_STRANGER.model_copy(update={"name": FRIEND.name})
    sample = SAMPLES["console messages"].model_copy(update={"sender": forged})
    assert (await PoliteGate(house.door.gate).admit(sample)).outcome == "refused"
    key = thread_key("console:local", "main")
    assert "let me in" not in str(await house.door.runtime.store.history(key))


PROGRAM_FRIEND = Person(id="api:token", platform="api")
