"""Settings: one frozen tree, read once from flags, environment, `.env` and `interlock.toml`."""

import difflib
import json
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from core.errors import InvalidConfig

DEFAULT_STORE = "sqlite:///.interlock/interlock.db"
DEFAULT_PORT = 8787
DEFAULT_FILE = Path("interlock.toml")


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

    id: str
    agent: str | None = None
    approve: tuple[str, ...] | None = None
    mention: bool = True


class PolicySection(Section):
    """`[policy]`: who may talk and who may decide; closed unless said."""

    talk: tuple[str, ...] = ()
    approve: tuple[str, ...] = ()
    channels: tuple[ChannelSection, ...] = ()

    @field_validator("talk", "approve")
    @classmethod
    def _check_ids(cls, ids: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(check_id(item) for item in ids)


class SubscriptionSection(Section):
    """`[[subscriptions]]`: which outside topics reach which conversation."""

    topic: str = Field(min_length=3)
    to: str
    agent: str | None = None
    priority: dict[str, Literal["low", "medium", "high", "urgent"]] = Field(default_factory=dict)


class DigestSection(Section):
    """`[[digests]]`: when a conversation hears of what can wait."""

    to: str
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
_ID = re.compile(
    r"slack:[TE]\w*:([UWCGDS]\w+|\*)|discord:(\d+|@me):(user/|role/|channel/)?(\d+|\*)"
    r"|console:local:([\w.-]+|\*)|api:token"
)


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
    merged_environment = {**_dotenv(Path(".env")), **environment}
    for names, value in _from_environment(merged_environment):
        _put(tree, names, value)
    for dotted, value in flags.items():
        if value is not None:
            _put(tree, tuple(dotted.split(".")), value)
    tree["secrets"] = _secrets(merged_environment)
    tree["folder"] = path.resolve().parent
    return _validate(tree, path, text)


def check_id(value: str) -> str:
    """Return the id if it has the shape of one; names are refused (gateway.md, Policy).

    Raises:
        ValueError: it is not an id.
    """
    if not _ID.fullmatch(value):
        raise ValueError(
            f"{value!r} is not an id: use slack:T..:U.., discord:GUILD:user/ID, "
            "console:local:NAME or api:token; `*` may stand for the last part"
        )
    return value


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
        line = _line_of_error(exc)
        shown = text.splitlines()[line - 1].strip() if line else ""
        key = shown.partition("=")[0].strip() or shown
        raise InvalidConfig(f"{path}, line {line}, at {key!r}: {exc}") from exc


def _line_of_error(problem: tomllib.TOMLDecodeError) -> int:
    found = re.search(r"line (\d+)", str(problem))
    return int(found.group(1)) if found else 0


def _dotenv(path: Path) -> dict[str, str]:
    values: dict[str, str] = {}
    for line in _read(path, required=False).splitlines():
        name, separator, value = line.strip().removeprefix("export ").partition("=")
        if separator and not name.startswith("#"):
            values[name.strip()] = value.strip().strip("'\"")
    return values


def _from_environment(environment: Mapping[str, str]) -> list[tuple[tuple[str, ...], Any]]:
    found: list[tuple[tuple[str, ...], Any]] = []
    for name, raw in environment.items():
        if not raw:
            # Empty means unset: an empty token must never count as one.
            continue
        plain = name.removesuffix("_FILE")
        value = _file_value(name, raw) if plain != name and plain in ALIASES else raw
        if plain in ALIASES:
            found.append((ALIASES[plain], value))
        elif name.startswith("INTERLOCK_") and name not in NOT_SETTINGS:
            names = tuple(name.removeprefix("INTERLOCK_").lower().split("__"))
            found.append((names, _structured(raw)))
    return found


def _structured(raw: str) -> Any:
    if not raw.startswith(("[", "{")):
        return raw

    try:
        return json.loads(raw)
    except ValueError:
        return raw


def _secrets(environment: Mapping[str, str]) -> dict[str, str]:
    secrets: dict[str, str] = {}
    for name, raw in environment.items():
        plain = name.removesuffix("_FILE")
        if SECRET_NAMES.fullmatch(plain) and raw:
            secrets[plain] = _file_value(name, raw) if plain != name else raw
    return secrets


def _file_value(name: str, path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError as exc:
        raise InvalidConfig(f"{name} names {path}, which cannot be read: {exc}") from exc


def _put(tree: dict[str, Any], names: tuple[str, ...], value: Any) -> None:
    for name in names[:-1]:
        tree = tree.setdefault(name, {})
    tree[names[-1]] = value


def _validate(tree: dict[str, Any], path: Path, text: str) -> Settings:
    try:
        return Settings.model_validate(tree)
    except ValidationError as exc:
        problems = [_explain(dict(error), path, text) for error in exc.errors(include_url=False)]
        raise InvalidConfig("; ".join(problems)) from exc


def _explain(error: dict[str, Any], path: Path, text: str) -> str:
    names = [str(part) for part in error["loc"]]
    key = ".".join(names)
    line = _line_of(names, text)
    where = f"{path}, line {line}" if line else "the environment or command line"
    if error["type"] != "extra_forbidden":
        return f"{where}: {key}: {error['msg']}"
    near = difflib.get_close_matches(names[-1], _known_keys(error["loc"]), n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"{where}: {key} is not a known key{hint}"


def _line_of(names: list[str], text: str) -> int:
    wanted = next((name for name in reversed(names) if not name.isdecimal()), "")
    pattern = re.compile(rf"\s*(\[+.*\b)?\"?{re.escape(wanted)}\"?\s*(=|\])")
    for number, line in enumerate(text.splitlines(), start=1):
        if pattern.match(line):
            return number
    return 0


def _known_keys(location: tuple[Any, ...]) -> list[str]:
    model: Any = Settings
    for part in location[:-1]:
        if isinstance(part, int):
            continue
        annotation = model.model_fields[part].annotation
        arguments = [item for item in getattr(annotation, "__args__", ()) if item is not Ellipsis]
        model = arguments[0] if arguments else annotation
    return list(getattr(model, "model_fields", {}))


def environment() -> Mapping[str, str]:
    """Return the process's environment, the one place where it is read."""
    return os.environ
