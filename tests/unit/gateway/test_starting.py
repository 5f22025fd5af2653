"""Starting a project: what `interlock init` writes is ready to be served."""

from pathlib import Path

import pytest

from core.errors import InvalidConfig
from gateway.agents import load_agents
from gateway.config import load_settings
from gateway.starting import FILES, write_project
from gateway.wiring import rehearse


async def test_a_new_project_loads_and_could_be_served(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written = write_project(tmp_path / "new" / "bot")
    assert [path.name for path in written] == ["interlock.toml", "agents.py", ".env.example"]
    settings = load_settings(written[0], {"INTERLOCK_MODEL": "demo"}, {})
    [agent] = load_agents(settings)
    assert agent.id == "helper"
    assert [tool.id for tool in agent.tools if not isinstance(tool, str)] == ["coin"]
    await rehearse(settings)


def test_the_example_environment_is_read_without_a_setting(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(".env").write_text(FILES[".env.example"])
    assert load_settings(None, {}, {}).secrets == {}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_there_is_kept_and_nothing_is_written(tmp_path, name):
    (tmp_path / name).write_text("mine")
    with pytest.raises(InvalidConfig, match="is there already; nothing was written"):
        write_project(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"


def test_a_link_that_leads_nowhere_is_not_followed(tmp_path):
    (tmp_path / "agents.py").symlink_to(tmp_path / "elsewhere.py")
    with pytest.raises(InvalidConfig, match=r"agents\.py is there already"):
        write_project(tmp_path)
    assert not (tmp_path / "elsewhere.py").exists()


def test_a_file_in_the_place_of_the_folder_is_named(tmp_path):
    (tmp_path / "bot").write_text("")
    with pytest.raises(InvalidConfig, match="bot is a file; name a folder"):
        write_project(tmp_path / "bot")
