"""Wiring: the one place that names concrete adapters and joins them to the runtime."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiohttp import web
from pydantic import SecretStr

from adapters.console import ConsoleAdapter, ConsoleSettings
from adapters.console.ports import AgentInfo
from adapters.models.registry import ModelRegistry, ModelSettings
from adapters.stores.sqlite import SqliteSettings, SqliteTransactor, version_warning
from adapters.webhooks import WebhooksAdapter, WebhookSettings
from core.agent import Agent
from core.conversation import Conversation
from core.errors import InvalidConfig
from core.ids import ThreadKey
from core.notifications.courier import Courier
from core.notifications.digest import DigestWindow
from core.notifications.inbox import Inbox
from core.notifications.notification import Priority
from core.notifications.policy import DeliveryPolicy
from core.notifications.subscriptions import Subscription, Subscriptions
from core.notifications.tool import inbox_tool
from core.notifications.windows import ConversationWindows
from core.runs.chunks import Chunk
from core.runtime import Runtime, RuntimeOptions
from core.stores.memory import MemoryStore
from core.stores.table_store import TableStore
from core.threads.subscription import Subscription as ThreadSubscription
from core.tools.tool import Folders
from gateway.addresses import parse_address
from gateway.agents import load_agents, name_models
from gateway.config import Settings, SubscriptionSection
from gateway.gate import GatewayGate, PoliteGate
from gateway.logs import bare_url
from gateway.policy import Policy
from gateway.scheduler import Chore, CronSchedule

if TYPE_CHECKING:
    from core.store import Store

TICK = timedelta(seconds=2)
PURGE = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """Everything that one process runs, joined and ready to start.

    `adapters` are those with a life of their own (`run`, `status`); `model_names` are prepared
    before the gateway says that it is ready.
    """

    settings: Settings
    runtime: Runtime
    registry: ModelRegistry
    routes: tuple[web.RouteDef, ...]
    adapters: tuple[Any, ...]
    chores: tuple[Chore, ...]
    model_names: tuple[str, ...]
    console: ConsoleAdapter


class ConsoleHost:
    """The runtime as the console sees it."""

    def __init__(self, runtime: Runtime, default_model: str | None) -> None:
        """Keep the runtime, and the model of agents that name none."""
        self._runtime = runtime
        self._default_model = default_model
        self.store: Store = runtime.store
        self.clock = runtime.clock

    @property
    def default_agent_id(self) -> str:
        """Return the first agent's id."""
        return self._runtime.agent().id

    def agents(self) -> Sequence[AgentInfo]:
        """Return what the console shows of each agent."""
        return [self._info(agent) for agent in self._runtime.agents()]

    def subscribe(self, key: ThreadKey, after: str | None = None) -> ThreadSubscription[Chunk]:
        """Open a subscription to a thread."""
        return self._runtime.subscribe(key, after)

    def _info(self, agent: Agent) -> AgentInfo:
        model = agent.model if isinstance(agent.model, str) else None
        tools = [item if isinstance(item, str) else item.id for item in agent.tools]
        return AgentInfo(
            id=agent.id,
            name=agent.name,
            description=agent.description,
            tools=tuple(tools),
            model=model or self._default_model,
        )


async def open_store(url: str, root: Path) -> TableStore:
    """Open the store that a URL names; relative paths lead from `root`.

    Raises:
        InvalidConfig: the URL is of no store that there is.
        Fatal: the store cannot be used, for instance since another process has it.
    """
    if url.startswith("sqlite:///"):
        path = root / url.removeprefix("sqlite:///")
        return TableStore(await SqliteTransactor.open(SqliteSettings(path=path)))
    raise InvalidConfig(
        f"the store {bare_url(url)!r} is not known here: use sqlite:///PATH "
        "(Redis comes with a later version)"
    )


async def wire(settings: Settings, local_token: SecretStr | None) -> Gateway:
    """Open the store and join everything; nothing runs yet.

    `local_token` lets programs of this machine in.

    Raises:
        InvalidConfig: settings that contradict each other or miss something; says which.
        Fatal: the store cannot be used.
    """
    ready = _Ready.read(settings)
    async with AsyncExitStack() as opened:
        store = await open_store(settings.store.url, settings.root)
        # A store that stays open keeps its thread, and with it a process that has failed, alive.
        opened.push_async_callback(store.aclose)
        await store.void_leases()
        gateway = _join(ready, store, local_token)
        opened.pop_all()
    return gateway


async def rehearse(settings: Settings) -> None:
    """Join everything over a store that forgets: says what `wire` would refuse.

    Raises:
        InterlockError: settings that contradict each other or miss something.
    """
    gateway = _join(_Ready.read(settings), MemoryStore(), None)
    await gateway.runtime.aclose()
    for item in (*gateway.adapters, gateway.registry):
        await item.aclose()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ready:
    """What the settings say, read and checked before a store is opened."""

    settings: Settings
    agents: list[Agent]
    model_names: list[str]
    webhooks: WebhookSettings
    subscriptions: Subscriptions
    windows: list[DigestWindow]
    registry: ModelRegistry

    @classmethod
    def read(cls, settings: Settings) -> "_Ready":
        agents = load_agents(settings)
        _check_agents(settings, agents)
        model_names = name_models(agents, settings)
        registry = ModelRegistry(_model_settings(settings))
        for name in model_names:
            # A missing key is told now, by its variable, and not to the first person who writes.
            registry.model(name)
        listed = tuple(_subscription(item, agents[0].id) for item in settings.subscriptions)
        return cls(
            settings=settings,
            agents=agents,
            model_names=model_names,
            webhooks=_webhook_settings(settings),
            subscriptions=Subscriptions(listed=listed),
            windows=[_window(item.to, item.at, item.zone) for item in settings.digests],
            registry=registry,
        )


def _join(ready: _Ready, store: TableStore, local_token: SecretStr | None) -> Gateway:
    settings = ready.settings
    policy = Policy(section=settings.policy, dev=settings.dev)
    runtime = Runtime(
        store=store,
        agents=ready.agents,
        options=_runtime_options(settings, ready.registry, policy, store),
    )
    inbox, courier = _notifications(runtime, ready.subscriptions, ready.windows)
    gate = GatewayGate(runtime=runtime, policy=policy, inbox=inbox)
    console = ConsoleAdapter(
        _console_settings(settings, local_token),
        host=ConsoleHost(runtime, settings.model.default),
        gate=gate,
        permit=lambda person: policy.may_talk(person, None),
    )
    runtime.adapters[console.platform] = console
    living = _slack(settings, runtime, PoliteGate(gate), policy)
    hooks = WebhooksAdapter(ready.webhooks, gate=gate)
    return Gateway(
        settings=settings,
        runtime=runtime,
        registry=ready.registry,
        routes=(*console.routes(), *hooks.routes(), *(r for item in living for r in item.routes())),
        adapters=tuple(living),
        chores=_chores(runtime, courier),
        model_names=tuple(ready.model_names),
        console=console,
    )


def _check_agents(settings: Settings, agents: list[Agent]) -> None:
    """Refuse a channel or a subscription whose agent is not there."""
    known = [agent.id for agent in agents]
    named = {f"the channel {item.id}": item.agent for item in settings.policy.channels}
    named |= {f"the subscription {item.topic}": item.agent for item in settings.subscriptions}
    for what, agent in named.items():
        if agent is not None and agent not in known:
            raise InvalidConfig(f"{what} names the agent {agent!r}; known: {', '.join(known)}")


def _runtime_options(
    settings: Settings, registry: ModelRegistry, policy: Policy, store: TableStore
) -> RuntimeOptions:
    tool = inbox_tool(store)
    return RuntimeOptions(
        default_model=settings.model.default,
        models=registry,
        folders=Folders(root=settings.root, plans=settings.plans),
        may_decide=policy.may_decide,
        tools={tool.id: tool},
    )


def _model_settings(settings: Settings) -> ModelSettings:
    return ModelSettings(
        client=settings.model.client,
        api_base=settings.model.api_base,
        keys=settings.secrets,
        demo_pace=timedelta(seconds=settings.model.demo_pace),
        default=settings.model.default,
    )


def _console_settings(settings: Settings, local_token: SecretStr | None) -> ConsoleSettings:
    port = settings.server.port
    hosts = settings.server.hosts or (f"localhost:{port}", f"127.0.0.1:{port}")
    return ConsoleSettings(
        token=settings.api_token, local_token=local_token, hosts=hosts, dev=settings.dev
    )


def _webhook_settings(settings: Settings) -> WebhookSettings:
    listed = settings.secrets.get("GITHUB_WEBHOOK_SECRET")
    given = listed.get_secret_value().split(",") if listed else []
    webhooks = WebhookSettings(github=tuple(SecretStr(item.strip()) for item in given))
    webhooks.check(item.topic for item in settings.subscriptions)
    return webhooks


def _subscription(section: SubscriptionSection, default_agent: str) -> Subscription:
    return Subscription(
        topic=section.topic,
        agent_id=section.agent or default_agent,
        conversation=parse_address(section.to),
        priorities={kind: Priority(word) for kind, word in section.priority.items()},
    )


def _window(to: str, at: str, zone: str) -> DigestWindow:
    return DigestWindow(schedule=CronSchedule(at, zone), zone=zone, conversation=parse_address(to))


def _notifications(
    runtime: Runtime, subscriptions: Subscriptions, windows: list[DigestWindow]
) -> tuple[Inbox, Courier]:
    found = ConversationWindows(store=runtime.store, listed=windows)

    def policies(agent_id: str) -> DeliveryPolicy | None:
        policy = runtime.agent(agent_id).delivery_policy
        return policy if isinstance(policy, DeliveryPolicy) else None

    inbox = Inbox(
        store=runtime.store,
        clock=runtime.clock,
        policies=policies,
        wake=runtime.wake,
        subscriptions=subscriptions,
        windows=found,
    )
    courier = Courier(
        store=runtime.store,
        clock=runtime.clock,
        inbox=inbox,
        policies=policies,
        wake=runtime.wake,
        windows=found,
    )
    return inbox, courier


def _slack(settings: Settings, runtime: Runtime, gate: PoliteGate, policy: Policy) -> list[Any]:
    bot_token = settings.secrets.get("SLACK_BOT_TOKEN")
    if bot_token is None:
        return []
    from adapters.slack import SlackAdapter, SlackSettings

    signing_secret = settings.secrets.get("SLACK_SIGNING_SECRET")
    app_token = settings.secrets.get("SLACK_APP_TOKEN")
    if signing_secret is None and app_token is None:
        raise InvalidConfig(
            "SLACK_BOT_TOKEN is set, but neither SLACK_SIGNING_SECRET (events over HTTP) nor "
            "SLACK_APP_TOKEN (Socket Mode): Slack could not reach us"
        )
    slack = SlackAdapter(
        SlackSettings(
            bot_token=bot_token,
            signing_secret=signing_secret,
            app_token=app_token,
            **({"api_url": settings.slack_api_url} if settings.slack_api_url else {}),
        ),
        gate=gate,
        clock=runtime.clock,
        participates=_participates(runtime, policy),
        facts=runtime.store,
    )
    runtime.adapters[slack.platform] = slack
    return [slack]


def _participates(runtime: Runtime, policy: Policy) -> Any:
    async def participates(conversation: Conversation) -> bool:
        channel = policy.channel(conversation)
        if channel is not None and not channel.mention:
            return True
        return await runtime.store.binding(conversation.key) is not None

    return participates


def _chores(runtime: Runtime, courier: Courier) -> tuple[Chore, ...]:
    return (
        Chore(name="tick", every=TICK, work=runtime.tick),
        Chore(name="courier", every=TICK, work=courier.dispatch_due),
        Chore(name="purge", every=PURGE, work=runtime.store.purge),
    )


def slack_manifest() -> str:
    """Return the manifest of the Slack app, as YAML."""
    from adapters.slack.manifest import manifest

    return manifest()


def store_warning() -> str | None:
    """Return what is known to be wrong with this machine's SQLite, if anything."""
    return version_warning()
