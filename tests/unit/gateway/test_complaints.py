"""Complaints: a person is told file, line, key and what they probably meant."""

from pathlib import Path

import pytest

from core.errors import InvalidConfig
from gateway.complaints import line_of, nearest, statement_at
from gateway.config import load_settings

FILE = "interlock.toml"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def complaint(text="", variables=None, flags=None):
    """Load what must be refused, and return what is said."""
    Path(FILE).write_text(text, encoding="utf-8")
    with pytest.raises(InvalidConfig) as refused:
        load_settings(None, variables or {}, flags or {})
    return str(refused.value)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("[store]\nurl = \n", "line 2, at 'url'"),
        ("a = 1\na = 2\n", "line 2, at 'a'"),
        ("[policy]\ntalk = [\n  'slack:T1:*',\n  oops\n]\n", "line 4, at 'oops'"),
        ("[policy]\ntalk = [\n  'slack:T1:*',\n", "line 2, at 'talk'"),
        ('[store]\nurl = """\nand so on\n', "line 2, at 'url'"),
        ("[policy\n", "line 1, at '[policy'"),
        ("[store]\n\nx", "line 3, at 'x'"),
        ("url = 'a\n", "line 1, at 'url'"),
    ],
)
def test_toml_that_is_broken_names_line_and_key(text, where):
    assert f"{FILE}, {where}" in complaint(text)


def test_a_statement_is_found_from_any_of_its_lines():
    text = "a = [\n  1,\n  # two\n]\n"
    assert statement_at(text, 1) == (1, "a")
    assert statement_at(text, 3) == (3, "a")
    assert statement_at(text, 4) == (4, "a")
    assert statement_at(text, 9) == (9, "a")
    assert statement_at("", 0) == (1, "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[sever]\nport = 1\n", "line 1: sever is not a known key; did you mean 'server'?"),
        ("agent_module = 'a.py'\n", "line 1: agent_module is not a known key; did you mean"),
        ("[policy]\ntlak = []\n", "line 2: policy.tlak is not a known key; did you mean 'talk'?"),
        ("[store]\nurl = 'x'\n[server]\nurl = 'x'\n", "line 4: server.url is not a known key"),
        ("server = { prot = 1 }\n", "line 1: server.prot is not a known key; did you mean 'port'"),
        ("server.prot = 1\n", "line 1: server.prot is not a known key"),
        ("[[agents]]\nid = 'a'\n[[agents]]\nid = 'b'\ntool = []\n", "line 5: agents.1.tool is not"),
        (
            "[policy]\n[[policy.channels]]\nid = 'slack:T1:C1'\naproove = []\n",
            "line 4: policy.channels.0.aproove is not a known key; did you mean 'approve'?",
        ),
        ("[[subscriptions]]\ntopic = 'a:b'\nto = 'api:token'\n", "line 3: subscriptions.0.to"),
        ("[[digests]]\nto = 'slack:T1:C1'\n", "line 1: digests.0.at: Field required"),
        ("dev = true\n", "line 1: dev is not a known key"),
        ("folder = '/'\n", "line 1: folder is not a known key"),
        ("[zzz]\n", "line 1: zzz is not a known key"),
    ],
)
def test_an_unknown_or_missing_key_names_line_and_nearest_key(text, said):
    assert f"{FILE}, {said}" in complaint(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[server]\nport = 'http'\n", "line 2: server.port: Input should be a valid integer"),
        ("[server]\nport = 70000\n", "line 2: server.port: Input should be less than or equal"),
        ("store = 1\n", "line 1: store: Input should be a valid dictionary"),
        ("[model]\nclient = 'fast'\n", "line 2: model.client: Input should be 'auto', 'litellm'"),
        ("[[agents]]\nid = 'a'\nmodel = 5\n", "line 3: agents.0.model: Input should be a valid st"),
        ("[[agents]]\nid = ''\n", "line 2: agents.0.id: String should have at least 1"),
        (
            "[[subscriptions]]\ntopic='a:b'\nto='slack:T1:C1'\npriority = {x = 'soon'}\n",
            "line 4: subscriptions.0.priority.x: Input should be 'low', 'medium', 'high' or",
        ),
    ],
)
def test_a_wrong_type_names_line_and_key(text, said):
    assert f"{FILE}, {said}" in complaint(text)


def test_every_mistake_is_told_at_once_and_each_only_once():
    said = complaint("[server]\nport = 'x'\nhosst = 'y'\n[[agents]]\nid = 'a'\nmodel = 5\n")
    assert "server.port" in said
    assert "server.hosst" in said
    assert said.count("Input should be a valid string") == 1


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("INTERLOCK_STORE__ULR", "x", "did you mean 'INTERLOCK_STORE__URL'?"),
        ("INTERLOCK_STOER_URL", "x", "did you mean 'INTERLOCK_STORE_URL'?"),
        ("INTERLOCK_PORT", "http", "server.port: Input should be a valid integer"),
        ("INTERLOCK_POLICY__TALK", '["@ada"]', "'@ada' is not an id"),
        ("INTERLOCK_POLICY__TALK", '["slack:T1:*"', "begins like JSON but cannot be read"),
        ("INTERLOCK_DEV", "true", "is not a known setting"),
        ("INTERLOCK_SECRETS__X", "y", "is not a known setting"),
        ("INTERLOCK_AGENTS__0__MODEL", "demo", "agents is not a table: set it as a whole"),
    ],
)
def test_a_wrong_variable_is_named_and_not_the_file(variable, value, said):
    text = complaint("[[agents]]\nid = 'a'\n[store]\n[policy]\ntalk = []\n", {variable: value})
    assert text.startswith(f"{variable}")
    assert said in text
    assert FILE not in text


def test_a_wrong_flag_is_looked_for_on_the_command_line():
    assert "the command line: server.port" in complaint(flags={"server.port": 99999})
    said = complaint("server = 'x'\n", flags={"server.port": 1})
    assert said == "the command line: server is not a table: set it as a whole"


@pytest.mark.parametrize("text", ["api_token = 'x'\n", "[secrets]\nSLACK_BOT_TOKEN = 'x'\n"])
def test_a_secret_in_the_file_is_refused(text):
    said = complaint(text)
    assert f"{FILE}, line 1" in said
    assert "does not belong into a file" in said


def test_a_secret_is_never_part_of_a_complaint():
    said = complaint("[server]\nport = 'x'\n", {"SLACK_BOT_TOKEN": "xoxb-top-secret"})
    assert "xoxb" not in said


def test_what_looks_like_settings_inside_a_long_text_is_not_taken_for_some():
    text = (
        "[[agents]]\nid = 'a'\ninstructions = '''\n[server]\nport = 1\n'''\n[server]\nport = 'x'\n"
    )
    assert f"{FILE}, line 8: server.port" in complaint(text)


@pytest.mark.parametrize(
    ("location", "line"),
    [
        (("policy", "talk", 2), 2),
        (("policy", "channels", 1, "id"), 6),
        (("policy", "channels", 0), 3),
        (("agents", 0, "modes", "plan", "default"), 10),
        (("agents", 0, "quoted key", "x"), 8),
        (("nothing",), 0),
    ],
)
def test_a_place_in_the_settings_has_a_line(location, line):
    text = (
        "[policy]\ntalk = [\n[[policy.channels]]\nid = 1\n[[ policy . channels ]]\nid = 2\n"
        "[[agents]]\n'quoted key' = 1\n[agents.modes.plan]\ndefault = true\n"
    )
    assert line_of(location, text) == line


def test_nothing_is_guessed_for_a_word_that_is_near_to_none():
    assert nearest("zzz", ["talk", "approve"]) == ""
