"""Plan files: what is read and what never is; and how a plan's text is split."""

import hashlib
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.approvals.plan import PLAN_SIZE_LIMIT, parse_plan, read_plan_file
from core.tools.tool import Folders

TEXT = "# Dark mode\n\n1. Add a switch.\n"
HOME = ".interlock/plans"


@pytest.fixture
def folders(tmp_path):
    root = tmp_path / "root"
    (root / HOME / "deep").mkdir(parents=True)
    (root / ".mastracode/plans").mkdir(parents=True)
    (root / "plans").mkdir()
    for name in (f"{HOME}/a.md", f"{HOME}/B.MD", f"{HOME}/a.txt", f"{HOME}/deep/a.md"):
        (root / name).write_text(TEXT)
    for name in (".mastracode/plans/m.md", "plans/a.md", "a.md", "../outside.md"):
        (root / name).write_text(TEXT)
    return Folders(root=root)


@pytest.mark.parametrize(
    "path",
    [
        f"{HOME}/a.md",
        f"./{HOME}/a.md",
        f"{HOME}/B.MD",
        f"{HOME}/deep/../a.md",
        ".mastracode/plans/m.md",
        f"{{root}}/{HOME}/a.md",
    ],
    ids=["plain", "dot", "capitals", "there and back", "second home", "absolute inside"],
)
async def test_a_plan_directly_in_its_folder_is_read(folders, path):
    assert await read_plan_file(path.format(root=folders.root), folders) == TEXT


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "..",
        "a.md",
        "plans/a.md",
        f"{HOME}/deep/a.md",
        f"{HOME}/a.txt",
        f"{HOME}/a",
        f"{HOME}/missing.md",
        f"{HOME}/../../a.md",
        f"{HOME}/../../../outside.md",
        "../outside.md",
        "{root}/../outside.md",
        "/etc/passwd",
        "/etc/passwd.md",
        f"{HOME}/a.md\0.md",
        f"{HOME}/{'x' * 300}.md",
        f"{HOME}/\ud83d.md",
        "~/a.md",
    ],
)
async def test_whatever_lies_elsewhere_is_not_read(folders, path):
    assert await read_plan_file(path.format(root=folders.root), folders) is None


def _symlink(home):
    (home / "x.md").symlink_to(home.parents[1] / "a.md")


def _symlink_inside(home):
    (home / "x.md").symlink_to(home / "a.md")


def _dangling(home):
    (home / "x.md").symlink_to(home / "nowhere.md")


def _fifo(home):
    os.mkfifo(home / "x.md")


def _directory(home):
    (home / "x.md").mkdir()


def _too_large(home):
    (home / "x.md").write_bytes(b"x" * (PLAN_SIZE_LIMIT + 1))


def _not_utf8(home):
    (home / "x.md").write_bytes(b"# \xff\xfe")


@pytest.mark.parametrize(
    "make",
    [_symlink, _symlink_inside, _dangling, _fifo, _directory, _too_large, _not_utf8],
    ids=lambda make: make.__name__.strip("_"),
)
async def test_what_is_no_small_regular_text_file_is_not_read(folders, make):
    make(folders.root / HOME)
    assert await read_plan_file(f"{HOME}/x.md", folders) is None


async def test_without_a_plan_folder_there_is_no_plan(tmp_path):
    assert await read_plan_file(f"{HOME}/a.md", Folders(root=tmp_path)) is None
    (tmp_path / ".interlock").mkdir()
    (tmp_path / HOME).write_text("a file in its place")
    assert await read_plan_file(f"{HOME}/a.md", Folders(root=tmp_path)) is None


async def test_the_largest_allowed_plan_is_read(folders):
    (folders.root / HOME / "x.md").write_text("x" * PLAN_SIZE_LIMIT)
    assert len(await read_plan_file(f"{HOME}/x.md", folders)) == PLAN_SIZE_LIMIT


@pytest.mark.parametrize("part", [".interlock", ".interlock/plans"])
async def test_a_plan_folder_below_the_root_may_not_be_a_link(folders, tmp_path, part):
    (folders.root / part).rename(tmp_path / "moved")
    (folders.root / part).symlink_to(tmp_path / "moved")
    assert await read_plan_file(f"{HOME}/a.md", folders) is None


async def test_a_root_behind_a_link_may_be_named_either_way(folders, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(folders.root)
    linked = Folders(root=link)
    for path in (f"{HOME}/a.md", f"{link}/{HOME}/a.md", f"{folders.root}/{HOME}/a.md"):
        assert await read_plan_file(path, linked) == TEXT


async def test_an_operators_own_folder_may_lie_anywhere(folders, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/x.md").write_text(TEXT)
    moved = Folders(root=folders.root, plans=tmp_path / "elsewhere")
    assert await read_plan_file(str(tmp_path / "elsewhere/x.md"), moved) == TEXT
    assert await read_plan_file("x.md", moved) is None


@pytest.mark.parametrize(
    ("content", "title", "body"),
    [
        ("# Title\n\nBody\n", "Title", "Body"),
        ("# Title\r\n\r\nOne\r\nTwo\r\n", "Title", "One\nTwo"),
        ("\n  \n\t\n# Title\nBody", "Title", "Body"),
        ("\ufeff# Title\nBody", "Title", "Body"),
        ("# Title", "Title", ""),
        ("#  Spaced  \nBody", "Spaced", "Body"),
        ("## Second level\nBody", "", "## Second level\nBody"),
        ("#Tight\nBody", "", "#Tight\nBody"),
        ("    # code\nBody", "", "    # code\nBody"),
        ("Just text\n# Later", "", "Just text\n# Later"),
        ("# Title\n\n\n  indented\n\n", "Title", "  indented"),
        ("", "", ""),
        ("\n\n", "", ""),
        ("# One\n# Two", "One", "# Two"),
    ],
)
def test_a_plan_is_split_into_title_and_body(content, title, body):
    plan = parse_plan("a.md", content)
    assert (plan.title, plan.body) == (title, body)


@given(st.text())
def test_a_decision_is_bound_to_every_byte_of_the_plan(content):
    plan = parse_plan("a.md", content)
    assert plan.content == content
    assert plan.content_hash == hashlib.sha256(content.encode()).hexdigest()
    assert "\r\n" not in plan.body
