"""Agents: from TOML, from a module beside it, and what a person hears when one is wrong."""

import pytest

from core.agent import Agent
from core.errors import InvalidConfig
from core.testing import ScriptedModel
from gateway.agents import load_agents, name_models
from gateway.config import AgentSection, ModelSection, Settings


def settings(*agents, folder=".", module=None, **more):
    return Settings(agents=agents, agents_module=module, folder=folder, **more)


def section(agent_id, **more):
    return AgentSection(id=agent_id, **more)


@pytest.fixture
def module(tmp_path):
    """Writes a module and returns the settings that name it."""

    def write(text, *agents, **more):
        (tmp_path / "agents.py").write_text(text)
        return settings(*agents, folder=tmp_path, module="agents.py", **more)

    return write


def test_an_agent_of_toml_has_what_it_was_given():
    given = section("a", description="d", instructions="i", tools=("clock",), max_steps=7)
    agent, other = load_agents(settings(given, section("b", name="Bea", model="demo")))
    assert (agent.id, agent.name, agent.description) == ("a", "a", "d")
    assert (other.name, other.model) == ("Bea", "demo")
    assert (agent.instructions, agent.tools, agent.model) == ("i", ("clock",), None)
    assert agent.default_options.max_steps == 7


def test_agents_of_toml_come_before_those_of_the_module(module):
    found = module('from core import Agent\nagents = [Agent(id="b")]\n', section("a"))
    assert [agent.id for agent in load_agents(found)] == ["a", "b"]


def test_a_module_may_hold_dataclasses_of_its_own(module):
    text = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "from core import Agent\n@dataclass\nclass Team:\n    size: int\n"
        "agents = [Agent(id=f'team-{Team(2).size}')]\n"
    )
    assert [agent.id for agent in load_agents(module(text))] == ["team-2"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("agents = [\n", r"agents.py cannot be loaded: SyntaxError: .*line 1"),
        ("\nimport nothing_of_that_name\n", r"agents.py, line 2, cannot be loaded: ModuleNotFound"),
        ("from core import Agent\nAgent()\n", r"agents.py, line 2, cannot be loaded: InvalidInput"),
        ("1 / 0\n", r"agents.py, line 1, cannot be loaded: ZeroDivisionError"),
        ("", r"agents.py must define `agents: list\[Agent\]`"),
        ("agents = 'helper'\n", r"agents.py must define `agents"),
        ("agents = ['helper']\n", r"agents.py must define `agents"),
        ("from core import Agent\nagents = Agent(id='a')\n", r"agents.py must define `agents"),
    ],
)
def test_a_module_that_gives_no_agents_is_named_with_its_line(module, text, said):
    with pytest.raises(InvalidConfig, match=said):
        load_agents(module(text))


@pytest.mark.parametrize("name", ["gone.py", "agents.txt", "."])
def test_what_is_no_python_file_is_named(tmp_path, name):
    with pytest.raises(InvalidConfig, match="is not a Python file"):
        load_agents(settings(folder=tmp_path, module=name))


def test_two_agents_with_one_id_are_named(module):
    found = module('from core import Agent\nagents = [Agent(id="a")]\n', section("a"), section("b"))
    with pytest.raises(InvalidConfig, match=r"two agents have the id a$"):
        load_agents(found)


def test_without_an_agent_only_dev_has_one():
    with pytest.raises(InvalidConfig, match=r"no agent is configured: add \[\[agents\]\]"):
        load_agents(settings())
    [helper] = load_agents(settings(dev=True))
    assert helper.id == "helper"
    assert [agent.id for agent in load_agents(settings(section("mine"), dev=True))] == ["mine"]


def test_the_flag_beats_the_model_of_every_agent(module):
    text = 'from core import Agent\nagents = [Agent(id="b", model="openai/x")]\n'
    found = module(text, section("a", model=("x/y", "x/z")), model_override="demo")
    assert [agent.model for agent in load_agents(found)] == ["demo", "demo"]


@pytest.mark.parametrize(
    ("own", "default", "names"),
    [
        (None, "demo", ["demo"]),
        ("openai/x", "demo", ["openai/x"]),
        ("openai/x", None, ["openai/x"]),
        (("openai/x", "demo"), None, ["openai/x", "demo"]),
        (ScriptedModel(), None, []),
    ],
    ids=["default", "its own", "its own alone", "a chain", "an object"],
)
def test_the_models_that_are_needed_are_named(own, default, names):
    given = settings(model=ModelSection(default=default))
    assert name_models([Agent(id="a", model=own)], given) == names


@pytest.mark.parametrize("own", [None, ()], ids=["none", "an empty chain"])
def test_an_agent_without_a_model_is_named_before_anybody_writes(own):
    agents = [Agent(id="a", model="demo"), Agent(id="b", model=own)]
    with pytest.raises(InvalidConfig, match="agent b has no model: set its `model`, or INTERLOCK"):
        name_models(agents, settings())
