"""The wheel: what a user installs is what stands in the tree, the console's pages included."""

import os
import subprocess
import sys
import zipfile

import pytest

from tests.unit.test_house.tree import PACKAGES, ROOT, tracked_files


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder]
    subprocess.run(
        build,
        cwd=ROOT,
        check=True,
        capture_output=True,
        env=os.environ | {"SOURCE_DATE_EPOCH": "1"},
    )
    with zipfile.ZipFile(next(folder.glob("interlock-*.whl"))) as archive:
        yield archive


def test_a_user_gets_every_file_of_the_three_packages(wheel):
    files = {path.relative_to(ROOT).as_posix() for path in tracked_files()}
    packaged = {name for name in files if name.startswith(tuple(f"{name}/" for name in PACKAGES))}
    assert packaged <= set(wheel.namelist())


def test_a_user_gets_nothing_else(wheel):
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)


def test_a_user_gets_the_command_and_the_licence(wheel):
    metadata = {name.split("/", 1)[1]: name for name in wheel.namelist() if ".dist-info/" in name}
    assert b"interlock = gateway.cli:main" in wheel.read(metadata["entry_points.txt"])
    assert b"Interlock contributors" in wheel.read(metadata["licenses/LICENSE"])
