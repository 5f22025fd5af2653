"""The examples run as a reader would run them, and say what they promise."""

import os
import subprocess
import sys

import pytest

from tests.unit.test_house.tree import ROOT

SAYS = {
    "one_tool": ["price_of(pear) -> 45", "A pear costs 45 cents."],
    "plan_approval": ["-> rejected", "2. Handle errors.", "-> approved", "Done: the switch"],
    "steering": [
        "Ben's message: deliver",
        '<user name="Ben">Not blue! Red!</user>',
        "take red now",
    ],
}
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_does_what_it_says(example):
    ran = subprocess.run(
        [sys.executable, "-W", "error", example],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    rest = ran.stdout
    for line in SAYS[example.stem]:
        assert line in rest, f"{line!r} is missing, or out of order, in:\n{ran.stdout}"
        rest = rest.partition(line)[2]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_read_at_one_sitting(example):
    assert len(example.read_text().splitlines()) < 60


def test_every_example_is_watched():
    assert {path.stem for path in EXAMPLES} == set(SAYS)
