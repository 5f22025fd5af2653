"""Settings: one frozen tree, read once from flags, environment, `.env` and `interlock.toml`."""

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, ValidationError

from core.errors import InvalidConfig
from gateway.addresses import check_approver, check_channel, check_id
from gateway.complaints import Location, Sources, nearest, statement_at

DEFAULT_STORE = "sqlite:///.interlock/interlock.db"
DEFAULT_PORT = 8787
DEFAULT_FILE = Path("interlock.toml")


Listed = Annotated[str, AfterValidator(check_id)]
Approver = Annotated[str, AfterValidator(check_approver)]
Channel = Annotated[str, AfterValidator(check_channel)]


class Section(BaseModel):
    """A part of the settings: frozen, and strict about its keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class StoreSection(Section):
    """`[store]`: where everything durable is kept."""

    url: str = DEFAULT_STORE


class ModelSection(Section):
    """`[model]`: the default model and how it is reached."""

    default: str | None = None
    client: Literal["auto", "litellm", "direct"] = "auto"
    api_base: str | None = None
    demo_pace: float = Field(default=1.5, ge=0)


class ServerSection(Section):
    """`[server]`: the one HTTP port."""

    host: str = "127.0.0.1"
    port: int = Field(default=DEFAULT_PORT, ge=0, le=65535)
    hosts: tuple[str, ...] = ()
    public_url: str | None = None


class AgentSection(Section):
    """`[[agents]]`: an agent declared in TOML."""

    id: str = Field(min_length=1)
    name: str | None = None
    description: str = ""
    instructions: str | tuple[str, ...] = ""
    model: str | tuple[str, ...] | None = None
    """A list is a fallback chain."""
    tools: tuple[str, ...] = ()
    max_steps: int = Field(default=30, ge=1)


class ChannelSection(Section):
    """`[[policy.channels]]`: what differs in one channel."""

    id: Channel
    agent: str | None = None
    approve: tuple[Approver, ...] | None = None
    mention: bool = True


class PolicySection(Section):
    """`[policy]`: who may talk and who may decide; closed unless said."""

    talk: tuple[Listed, ...] = ()
    approve: tuple[Approver, ...] = ()
    channels: tuple[ChannelSection, ...] = ()


class SubscriptionSection(Section):
    """`[[subscriptions]]`: which outside topics reach which conversation."""

    topic: str = Field(min_length=3)
    to: Channel
    agent: str | None = None
    priority: dict[str, Literal["low", "medium", "high", "urgent"]] = Field(default_factory=dict)


class DigestSection(Section):
    """`[[digests]]`: when a conversation hears of what can wait."""

    to: Channel
    at: str
    zone: str = "UTC"


class Settings(Section):
    """The whole tree; each part of the gateway gets its own branch."""

    store: StoreSection = Field(default_factory=StoreSection)
    model: ModelSection = Field(default_factory=ModelSection)
    server: ServerSection = Field(default_factory=ServerSection)
    agents: tuple[AgentSection, ...] = ()
    agents_module: str | None = None
    policy: PolicySection = Field(default_factory=PolicySection)
    subscriptions: tuple[SubscriptionSection, ...] = ()
    digests: tuple[DigestSection, ...] = ()
    root: Path = Field(default_factory=Path.cwd)
    plans: Path = Path(".interlock/plans")
    api_token: SecretStr | None = None
    secrets: dict[str, SecretStr] = Field(default_factory=dict)
    """Every secret by the name of its variable, such as `SLACK_BOT_TOKEN`."""
    slack_api_url: str | None = None
    folder: Path = Field(default_factory=Path.cwd)
    """Where `interlock.toml` stands; `agents_module` is found from here."""
    dev: bool = False
    """Set by the command alone: it opens the policy to whoever is at the console."""
    model_override: str | None = None
    """The flag `--model`, which beats every agent's own."""


ALIASES: Mapping[str, tuple[str, ...]] = {
    "INTERLOCK_STORE_URL": ("store", "url"),
    "INTERLOCK_MODEL": ("model", "default"),
    "INTERLOCK_MODEL_CLIENT": ("model", "client"),
    "INTERLOCK_MODEL_API_BASE": ("model", "api_base"),
    "INTERLOCK_DEMO_PACE": ("model", "demo_pace"),
    "INTERLOCK_HOST": ("server", "host"),
    "INTERLOCK_PORT": ("server", "port"),
    "INTERLOCK_ROOT": ("root",),
    "INTERLOCK_PLANS": ("plans",),
    "INTERLOCK_API_TOKEN": ("api_token",),
    "SLACK_API_URL": ("slack_api_url",),
}
NOT_SETTINGS = frozenset({"INTERLOCK_URL", "INTERLOCK_KILL_AT", "INTERLOCK_DEBUG"})
"""Variables of our prefix that are read elsewhere."""
SECRET_NAMES = re.compile(r"(SLACK|DISCORD)_\w*(TOKEN|SECRET)|\w+_WEBHOOK_SECRET|\w+_API_KEY")
_NOT_WRITTEN = frozenset({"secrets", "folder", "dev", "model_override"})
"""Fields that no file and no variable may set."""


def load_settings(
    file: Path | None, environment: Mapping[str, str], flags: Mapping[str, Any]
) -> Settings:
    """Read the settings; the order of precedence is flag, environment, `.env`, file.

    `file` None means `interlock.toml` in the working directory, if it is there. `flags` maps dotted
    paths such as `server.port` to values that were given on the command line.

    Raises:
        InvalidConfig: with file, line and key, and the nearest known key where one is misspelt.
    """
    path = file or DEFAULT_FILE
    text = _read(path, required=file is not None)
    tree = _parse(path, text)
    layers = [_resolved(_dotenv(Path(".env"))), _resolved(environment)]
    overlay = _Overlay(tree)
    overlay.refuse_written(Sources(path=path, text=text, origins={}))
    for layer in layers:
        for name, names, value in _from_environment(layer):
            overlay.put(names, value, origin=name)
    for dotted, value in flags.items():
        if value is not None:
            overlay.put(tuple(dotted.split(".")), value, origin="the command line")
    tree["secrets"] = {name: raw for layer in layers for name, raw in _secrets(layer)}
    tree["folder"] = path.resolve().parent
    return _validate(tree, Sources(path=path, text=text, origins=overlay.origins))


class _Overlay:
    """The tree of the file while other values are laid over it, and who set which."""

    def __init__(self, tree: dict[str, Any]) -> None:
        self.tree = tree
        self.origins: dict[Location, str] = {}

    def put(self, names: tuple[str, ...], value: Any, *, origin: str) -> None:
        """Set a value; what is not a table is not walked into."""
        branch = self.tree
        for depth, name in enumerate(names[:-1], start=1):
            branch = branch.setdefault(name, {})
            if not isinstance(branch, dict):
                above = ".".join(names[:depth])
                raise InvalidConfig(f"{origin}: {above} is not a table: set it as a whole")
        branch[names[-1]] = value
        self.origins[names] = origin

    def refuse_written(self, sources: Sources) -> None:
        """Refuse secrets and inner fields in the file (gateway.md, Settings)."""
        for name in sorted({*_NOT_WRITTEN, "api_token"} & self.tree.keys()):
            why = "is not a known key"
            if name in ("api_token", "secrets"):
                why = "does not belong into a file: set INTERLOCK_API_TOKEN and its like"
            raise InvalidConfig(f"{sources.where((name,))}: {name} {why}")


def _read(path: Path, *, required: bool) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as exc:
        if not required:
            return ""
        raise InvalidConfig(f"{path} is not there; `interlock init` writes one") from exc
    except (OSError, UnicodeDecodeError) as exc:
        raise InvalidConfig(f"{path} cannot be read: {exc}") from exc


def _parse(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        found = re.search(r"line (\d+)", str(exc))
        line, key = statement_at(text, int(found.group(1)) if found else 0)
        raise InvalidConfig(f"{path}, line {line}, at {key!r}: {exc}") from exc


def _dotenv(path: Path) -> dict[str, str]:
    # A folder of this name is somebody's virtual environment.
    text = "" if path.is_dir() else _read(path, required=False)
    values: dict[str, str] = {}
    for line in text.splitlines():
        name, separator, value = line.strip().removeprefix("export ").partition("=")
        if separator and not name.startswith("#"):
            values[name.strip()] = _unquoted(value.strip())
    return values


def _unquoted(value: str) -> str:
    if value[:1] in ("'", '"') and value.endswith(value[0]) and len(value) > 1:
        return value[1:-1]
    return re.split(r"(?:^|\s)#", value, maxsplit=1)[0].strip()


def _resolved(layer: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a layer that count, `*_FILE` by what stands in the file."""
    # Empty means unset: an empty token must never count as one.
    found = {name: raw for name, raw in layer.items() if raw.strip()}
    for name in sorted(found):
        plain = name.removesuffix("_FILE")
        if plain != name and (plain in ALIASES or SECRET_NAMES.fullmatch(plain)):
            path = found.pop(name)
            found.setdefault(plain, _file_value(name, path))
    return found


def _file_value(name: str, path: str) -> str:
    try:
        value = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as exc:
        raise InvalidConfig(f"{name} names {path}, which cannot be read: {exc}") from exc
    if not value:
        raise InvalidConfig(f"{name} names {path}, which is empty")
    return value


def _from_environment(layer: Mapping[str, str]) -> Iterator[tuple[str, tuple[str, ...], Any]]:
    """Yield each setting of a layer: its variable, its path, its value."""
    # In the order of their names, so that a whole table comes before its parts.
    for name, raw in sorted(layer.items()):
        if name in ALIASES:
            yield name, ALIASES[name], raw
        elif name.startswith("INTERLOCK_") and name not in NOT_SETTINGS:
            names = tuple(name.removeprefix("INTERLOCK_").lower().split("__"))
            if names[0] in _NOT_WRITTEN:
                raise InvalidConfig(f"{name} is not a known setting")
            yield name, names, _structured(name, raw)


def _structured(name: str, raw: str) -> Any:
    if not raw.startswith(("[", "{")):
        return raw
    try:
        return json.loads(raw)
    except ValueError as exc:
        raise InvalidConfig(f"{name} begins like JSON but cannot be read: {exc}") from exc


def _secrets(layer: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    return ((name, raw) for name, raw in layer.items() if SECRET_NAMES.fullmatch(name))


def _validate(tree: dict[str, Any], sources: Sources) -> Settings:
    try:
        return Settings.model_validate(tree)
    except ValidationError as exc:
        problems = [_explain(dict(error), sources) for error in exc.errors(include_url=False)]
        # A choice of types that all fail is told once.
        raise InvalidConfig("; ".join(dict.fromkeys(problems))) from exc


def _explain(error: dict[str, Any], sources: Sources) -> str:
    # The branches of a union are pydantic's affair: no key of ours is called `str` or `tuple[...]`.
    location: Location = tuple(
        part for part in error["loc"] if part != "str" and "[" not in str(part)
    )
    where, key = sources.where(location), ".".join(map(str, location))
    if error["type"] != "extra_forbidden":
        return f"{where}: {key}: {error['msg']}"
    known = _known_keys(location)
    origin = sources.origin(location)
    if origin is None:
        return f"{where}: {key} is not a known key{nearest(str(location[-1]), known)}"
    stem = origin.removesuffix(str(location[-1]).upper())
    variables = [*ALIASES, *(f"{stem}{name.upper()}" for name in known)]
    return f"{where}: {key} is not a known key{nearest(origin, variables)}"


def _known_keys(location: Location) -> list[str]:
    model: Any = Settings
    for part in location[:-1]:
        if isinstance(part, str):
            annotation = model.model_fields[part].annotation
            listed = getattr(annotation, "__args__", None)
            model = listed[0] if listed else annotation
    return [name for name in model.model_fields if name not in _NOT_WRITTEN]


def environment() -> Mapping[str, str]:
    """Return the process's environment, the one place where it is read."""
    return os.environ
