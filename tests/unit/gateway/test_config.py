"""Settings: where each value may come from, and which one wins."""

from pathlib import Path

import pytest

from core.errors import InvalidConfig
from gateway.config import ALIASES, DEFAULT_STORE, environment, load_settings


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A working directory of its own, empty at first."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(text, name="interlock.toml"):
    Path(name).write_text(text, encoding="utf-8")


def load(variables=None, flags=None, file=None):
    return load_settings(file, variables or {}, flags or {})


def test_with_nothing_said_everything_has_a_default():
    settings = load()
    assert settings.store.url == DEFAULT_STORE
    assert (settings.server.host, settings.server.port) == ("127.0.0.1", 8787)
    assert settings.model.default is None
    assert settings.policy.talk == settings.policy.approve == ()
    assert not settings.dev


def test_each_source_beats_the_one_below_it():
    write("[server]\nport = 1\n")
    assert load().server.port == 1
    write("INTERLOCK_PORT=2\n", ".env")
    assert load().server.port == 2
    assert load({"INTERLOCK_PORT": "3"}).server.port == 3
    assert load({"INTERLOCK_PORT": "3"}, {"server.port": 4}).server.port == 4


def test_a_flag_that_was_not_given_changes_nothing():
    assert load({"INTERLOCK_PORT": "3"}, {"server.port": None}).server.port == 3


def test_the_environment_beats_dotenv_in_whichever_form_either_is_written():
    write("INTERLOCK_STORE__URL=sqlite:///dotenv.db\n", ".env")
    assert load({"INTERLOCK_STORE_URL": "sqlite:///here.db"}).store.url == "sqlite:///here.db"
    write("INTERLOCK_STORE_URL=sqlite:///dotenv.db\n", ".env")
    assert load({"INTERLOCK_STORE__URL": "sqlite:///here.db"}).store.url == "sqlite:///here.db"


@pytest.mark.parametrize(
    ("variable", "value", "read"),
    [
        ("INTERLOCK_STORE_URL", "sqlite:///x.db", lambda s: s.store.url),
        ("INTERLOCK_MODEL", "demo", lambda s: s.model.default),
        ("INTERLOCK_MODEL_CLIENT", "direct", lambda s: s.model.client),
        ("INTERLOCK_MODEL_API_BASE", "http://127.0.0.1:1/v1", lambda s: s.model.api_base),
        ("INTERLOCK_DEMO_PACE", "0", lambda s: f"{s.model.demo_pace:g}"),
        ("INTERLOCK_HOST", "0.0.0.0", lambda s: s.server.host),
        ("INTERLOCK_PORT", "9000", lambda s: str(s.server.port)),
        ("INTERLOCK_ROOT", "/srv", lambda s: str(s.root)),
        ("INTERLOCK_PLANS", "plans", lambda s: str(s.plans)),
        ("INTERLOCK_API_TOKEN", "a long token", lambda s: s.api_token.get_secret_value()),
        ("SLACK_API_URL", "http://127.0.0.1:2/", lambda s: s.slack_api_url),
        ("INTERLOCK_SERVER__PUBLIC_URL", "https://bot", lambda s: s.server.public_url),
        ("INTERLOCK_AGENTS_MODULE", "agents.py", lambda s: s.agents_module),
    ],
)
def test_a_variable_sets_what_it_names(variable, value, read):
    assert read(load({variable: value})) == value


def test_every_alias_is_tried_above():
    tried = test_a_variable_sets_what_it_names.pytestmark[0].args[1]
    assert set(ALIASES) <= {variable for variable, _, _ in tried}


def test_lists_and_tables_are_given_as_json():
    variables = {
        "INTERLOCK_POLICY__TALK": '["slack:T1:*"]',
        "INTERLOCK_AGENTS": '[{"id": "a", "tools": ["clock"]}]',
        "INTERLOCK_SERVER": '{"port": 1, "host": "127.0.0.1"}',
        "INTERLOCK_SERVER__PORT": "2",
    }
    settings = load(variables)
    assert settings.policy.talk == ("slack:T1:*",)
    assert settings.agents[0].tools == ("clock",)
    assert settings.server.port == 2


def test_variables_that_others_read_are_left_alone():
    load({"INTERLOCK_URL": "http://127.0.0.1:1", "INTERLOCK_KILL_AT": "x", "PATH": "/bin"})


@pytest.mark.parametrize("empty", ["", "  "])
def test_an_empty_value_counts_as_none(empty):
    settings = load({"INTERLOCK_API_TOKEN": empty, "SLACK_BOT_TOKEN": empty, "INTERLOCK_PORT": ""})
    assert settings.api_token is None
    assert settings.secrets == {}
    write("INTERLOCK_PORT=2\n", ".env")
    assert load({"INTERLOCK_PORT": empty}).server.port == 2


def test_secrets_are_kept_by_their_variables_and_never_shown():
    settings = load({"SLACK_BOT_TOKEN": "xoxb-secret", "GITHUB_WEBHOOK_SECRET": "s" * 20, "X": "y"})
    assert set(settings.secrets) == {"SLACK_BOT_TOKEN", "GITHUB_WEBHOOK_SECRET"}
    assert settings.secrets["SLACK_BOT_TOKEN"].get_secret_value() == "xoxb-secret"
    assert "xoxb-secret" not in repr(settings)


@pytest.mark.parametrize("name", ["INTERLOCK_API_TOKEN", "SLACK_SIGNING_SECRET", "OPENAI_API_KEY"])
def test_a_secret_may_stand_in_a_file(name):
    write("from the file\n", "secret")
    settings = load({f"{name}_FILE": "secret"})
    token = settings.api_token if name.startswith("INTERLOCK") else settings.secrets[name]
    assert token.get_secret_value() == "from the file"


def test_what_is_said_outright_beats_a_file_beside_it():
    write("from the file\n", "secret")
    settings = load({"SLACK_BOT_TOKEN_FILE": "secret", "SLACK_BOT_TOKEN": "outright"})
    assert settings.secrets["SLACK_BOT_TOKEN"].get_secret_value() == "outright"


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "cannot be read"), (b" \n", "is empty"), (b"\xff\xfe", "cannot be read")],
)
def test_a_secret_file_that_gives_nothing_refuses_the_start(content, said):
    if content is not None:
        Path("secret").write_bytes(content)
    with pytest.raises(InvalidConfig, match=f"INTERLOCK_API_TOKEN_FILE names secret.*{said}"):
        load({"INTERLOCK_API_TOKEN_FILE": "secret"})


def test_dotenv_is_read_as_people_write_it():
    lines = [
        "# a comment",
        "export INTERLOCK_MODEL=demo   # offline",
        "",
        "INTERLOCK_HOST = '127.0.0.1'",
        'INTERLOCK_API_TOKEN="a # in quotes"',
        "SLACK_BOT_TOKEN=#nothing",
        "not a line",
    ]
    write("\n".join(lines), ".env")
    settings = load()
    assert (settings.model.default, settings.server.host) == ("demo", "127.0.0.1")
    assert settings.api_token.get_secret_value() == "a # in quotes"
    assert settings.secrets == {}


def test_a_virtual_environment_named_dotenv_is_no_settings_file():
    Path(".env").mkdir()
    assert load().server.port == 8787


def test_the_named_file_is_the_one_that_is_read(folder):
    (folder / "deep").mkdir()
    write("[server]\nport = 5\n", "deep/other.toml")
    settings = load(file=Path("deep/other.toml"))
    assert settings.server.port == 5
    assert settings.folder == folder / "deep"


def test_a_named_file_that_is_not_there_says_how_to_get_one():
    with pytest.raises(InvalidConfig, match=r"gone.toml is not there; `interlock init`"):
        load(file=Path("gone.toml"))


def test_a_file_that_cannot_be_read_is_named():
    Path("interlock.toml").mkdir()
    with pytest.raises(InvalidConfig, match=r"interlock.toml cannot be read"):
        load()


def test_the_reference_form_loads():
    write(REFERENCE)
    settings = load()
    assert settings.agents[0].model == "openai/gpt-5-mini"
    assert settings.policy.channels[0].approve == ("slack:T0001:U0001", "slack:T0001:S0009")
    assert settings.subscriptions[0].priority == {"ci-status:failed": "high"}
    assert settings.digests[0].zone == "Europe/Berlin"


def test_the_environment_is_that_of_the_process(monkeypatch):
    monkeypatch.setenv("INTERLOCK_PORT", "7")
    assert environment()["INTERLOCK_PORT"] == "7"


REFERENCE = """
[store]
url = "sqlite:///.interlock/interlock.db"

[[agents]]
id = "helper"
name = "Helper"
instructions = "Help the team. Before you change anything, write a plan and submit it."
model = "openai/gpt-5-mini"
tools = ["write_plan", "submit_plan", "ask_user", "notification_inbox"]

[policy]
talk = ["slack:T0001:*", "discord:9001:*"]
approve = ["slack:T0001:U0001"]

[[policy.channels]]
id = "slack:T0001:C0001"
agent = "helper"
approve = ["slack:T0001:U0001", "slack:T0001:S0009"]
mention = true

[[subscriptions]]
topic = "github:acme/app"
to = "slack:T0001:C0001"
priority = { "ci-status:failed" = "high" }

[[digests]]
to = "slack:T0001:C0001"
at = "0 9 * * mon-fri"
zone = "Europe/Berlin"
"""
