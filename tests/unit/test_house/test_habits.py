"""Habits no linter knows: who asks for the time, what a file may name, which imports are caught."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.unit.test_house.tree import (
    PACKAGES,
    ROOT,
    dotted,
    imported,
    listed,
    sources,
    tracked_files,
)

CLOCK_READS = re.compile(r"(^|\.)(datetime\.(now|utcnow|today)|date\.today|time\.time(_ns)?)$")
MACHINE = re.compile(r"(?<![\w.:/-])(/(home|Users|root|work)/|[A-Z]:\\Users\b|/opt/(wheels|pypi))")
OFFENCES = {
    "core/bad.py": "import adapters.bad.use\nimport redis",
    "core/ids_bad.py": "import core.ids",
    "core/signals/bad.py": "import core.tools.bad",
    "core/tools/bad.py": "import core.signals.bad",
    "adapters/bad/__init__.py": "",
    "adapters/bad/use.py": "import adapters.worse.use",
    "adapters/worse/__init__.py": "",
    "adapters/worse/use.py": "",
    "gateway/bad.py": "import adapters.bad.use",
}


def test_only_the_clock_asks_the_system_for_the_time():
    offenders = [
        source.at(node)
        for source in sources(*PACKAGES)
        if source.name != "core/clock.py"
        for node in source.nodes(ast.Attribute)
        if CLOCK_READS.search(dotted(node))
    ]
    offenders += [
        source.name
        for source in sources(*PACKAGES)
        if imported(source) & {"time.time", "time.time_ns"}
    ]
    assert not offenders, "take `now` or a Clock:" + listed(offenders)


def test_no_file_names_a_folder_of_somebodys_machine():
    offenders = [
        f"{path.relative_to(ROOT)}: {found.group()}"
        for path in tracked_files()
        if "fixtures" not in path.parts
        if (found := MACHINE.search(path.read_text(encoding="utf-8", errors="ignore")))
    ]
    assert not offenders, listed(offenders)


def test_every_contract_between_the_parts_bites(tmp_path):
    """Each offence is tried on a copy; the names of the contracts are those of pyproject.toml."""
    _copy_with_offences(tmp_path)
    linter = Path(sys.executable).with_name("lint-imports")
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "PYTHONSAFEPATH": "1"}
    answer = subprocess.run(
        [linter, "--no-cache"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    contracts = re.findall(
        r'^name = "(.+)"', (tmp_path / "pyproject.toml").read_text(), re.MULTILINE
    )[1:]
    kept = [name for name in contracts if f"{name} BROKEN" not in answer.stdout]
    assert not kept, answer.stdout + answer.stderr


def test_ci_runs_the_same_words_as_a_developer():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    words = re.findall(r"^make --no-print-directory (\w+)", script.read_text(), re.MULTILINE)
    assert words == ["check", "test"]


def _copy_with_offences(folder: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", folder)
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package)
    for name, text in OFFENCES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "__init__.py").touch()
        path.write_text(f"{text}\n")
