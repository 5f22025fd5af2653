import sqlite3

import pytest

from adapters.stores.sqlite.version import demand_version, version_warning
from core.errors import Fatal


@pytest.mark.parametrize("version", [(3, 36, 9), (3, 7, 0), (2, 8, 17)], ids=str)
def test_a_library_without_strict_tables_is_refused(version: tuple[int, int, int]):
    with pytest.raises(Fatal, match=r"SQLite \d+\.\d+\.\d+ is too old .*3\.37"):
        demand_version(version)


def test_the_library_of_this_python_is_good_enough():
    demand_version((3, 37, 0))
    demand_version()


@pytest.mark.parametrize(
    "version",
    [(3, 37, 0), (3, 40, 1), (3, 44, 5), (3, 45, 0), (3, 50, 6), (3, 51, 0), (3, 51, 2)],
    ids=str,
)
def test_a_library_that_can_damage_a_shared_file_is_warned_of(version: tuple[int, int, int]):
    dotted = ".".join(map(str, version))
    assert f"SQLite {dotted} can damage" in (version_warning(version) or "")


@pytest.mark.parametrize(
    "version", [(3, 44, 6), (3, 44, 9), (3, 50, 7), (3, 51, 3), (3, 52, 0), (4, 0, 0)], ids=str
)
def test_a_mended_library_needs_no_warning(version: tuple[int, int, int]):
    assert version_warning(version) is None


def test_the_warning_is_about_the_library_in_use():
    assert version_warning() == version_warning(sqlite3.sqlite_version_info)
