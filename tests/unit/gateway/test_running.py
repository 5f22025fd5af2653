"""Running: what the flags of `dev` and `serve` make of the settings."""

from argparse import Namespace
from pathlib import Path

import pytest

from gateway.agents import load_agents
from gateway.running import dev_settings, with_demo


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def dev(**flags):
    given = {"port": None, "data": None, "model": None, "config": None, "debug": False}
    return dev_settings(Namespace(**{**given, **flags}))


def test_dev_needs_nothing_and_takes_the_demo_model():
    settings = with_demo(dev())
    assert settings.dev
    assert settings.model.default == "demo"
    assert [agent.id for agent in load_agents(settings)] == ["helper"]


def test_dev_binds_loopback_whatever_the_settings_say(monkeypatch):
    Path("interlock.toml").write_text("[server]\nhost = '0.0.0.0'\nport = 1\n")
    monkeypatch.setenv("INTERLOCK_HOST", "::")
    settings = dev(port=9)
    assert (settings.server.host, settings.server.port) == ("127.0.0.1", 9)


def test_a_model_that_is_named_is_kept(monkeypatch):
    monkeypatch.setenv("INTERLOCK_MODEL", "openai/gpt-5-mini")
    assert with_demo(dev()).model.default == "openai/gpt-5-mini"


def test_the_flag_beats_the_agents_own_models():
    Path("interlock.toml").write_text('[[agents]]\nid = "a"\nmodel = "openai/x"\n')
    assert load_agents(dev())[0].model == "openai/x"
    settings = dev(model="demo")
    assert settings.model.default == "demo"
    assert load_agents(settings)[0].model == "demo"


def test_the_data_folder_is_where_the_store_goes(folder):
    assert dev(data=Path("data")).store.url == f"sqlite:///{folder}/data/interlock.db"
    assert dev(data=Path("/srv/x")).store.url == "sqlite:////srv/x/interlock.db"
