"""Logs: no secret reaches a line, whatever it is wrapped in."""

import json
import logging
import subprocess
import sys

import pytest

from core.testing import NOON
from gateway.logs import RedactingFormatter, bare_url, redact, redacted

# Written in two parts, so that no scanner takes them for real ones.
SECRETS = [
    "xoxb-" + "123456789012-abcdefghij",
    "xoxp-" + "123456789012-abcdefghij",
    "xoxe.xoxp-" + "1-Mi0yLTEyMzQ1Njc4",
    "xapp-" + "1-A0001-123456-abcdef",
    "ghp_" + "a1B2" * 9,
    "gho_" + "a1B2" * 9,
    "ghs_" + "a1B2" * 9,
    "github_pat_" + "a1B2" * 9,
    "sk-" + "proj-abcdefghijklmnop",
    "sk-" + "ant-api03-abcdefghijkl",
    "AIza" + "SyA1234567890abcdefghijklmnop",
    "MTk4NjIyNDgzNDcxOTI1MjQ4" + ".Cl2FMQ." + "ZnCjm1XVW7vRze4b7Cq4se7kKWs",
    "https://hooks.slack.com/" + "services/T0001/B0001/abcdefgh",
    "https://discord.com/" + "api/webhooks/123/abc-def",
    "https://discordapp.com/" + "api/webhooks/123/abc-def",
]
each_secret = pytest.mark.parametrize("secret", SECRETS, ids=range(len(SECRETS)))


def raised(text):
    try:
        raise RuntimeError(text)
    except RuntimeError as problem:
        return problem


@each_secret
def test_a_bare_secret_is_taken_out(secret):
    """PB-089: without any context words."""
    assert "[secret]" in redacted(secret)
    shown = redacted(f"before {secret} after")
    assert secret[12:] not in shown
    assert shown.startswith("before ")


@each_secret
def test_a_secret_is_taken_out_however_deep_it_lies(secret):
    event = {
        "event": f"failed with {secret}",
        "headers": {"X-Given": f"Bot {secret}", secret: "as a key"},
        "listed": [{"deep": (secret, {secret})}],
        "error": raised(f"invalid_auth: {secret}"),
        "raw": secret.encode(),
    }
    shown = json.dumps(redact(None, "info", event))
    assert secret not in shown
    assert shown.count("[secret]") == 7


@pytest.mark.parametrize("name", ["Authorization", "cookie", "Set-Cookie", "X-Api-Key"])
def test_a_header_that_is_a_secret_needs_no_known_shape(name):
    cleaned = redact(None, "info", {"headers": {name: "Bearer of-no-known-shape", "Via": "1.1"}})
    assert cleaned == {"headers": {name: "[secret]", "Via": "1.1"}}


def test_what_is_no_secret_stays_as_it_is():
    event = {
        "event": "run.done",
        "run": "run_4f2a",
        "steps": 3,
        "ok": True,
        "at": None,
        "took": 1.5,
    }
    assert redact(None, "info", event) == event
    assert redact(None, "info", {"due": NOON}) == {"due": repr(NOON)}


@pytest.mark.parametrize(
    ("url", "bare"),
    [
        ("redis://user:pass@host:6379/0", "redis://host:6379/0"),
        ("redis://:pass@host/0?password=x", "redis://host/0"),
        ("sqlite:///.interlock/interlock.db", "sqlite:///.interlock/interlock.db"),
        ("sqlite:///home/a@b/x.db", "sqlite:///home/a@b/x.db"),
    ],
)
def test_an_address_is_shown_without_what_opens_it(url, bare):
    """reliability.md T21."""
    assert bare_url(url) == bare
    assert "pass@" not in redacted(f"cannot reach {url}")


def test_what_a_library_logs_is_cleaned_with_its_traceback():
    secret = SECRETS[0]
    problem = raised(f"bad token {secret}")
    record = logging.LogRecord(
        "slack_sdk", logging.ERROR, "x.py", 1, "sent %s", (secret,), (type(problem), problem, None)
    )
    shown = RedactingFormatter("%(name)s: %(message)s").format(record)
    assert shown.startswith("slack_sdk: sent [secret]")
    assert secret not in shown


PROGRAM = """
import logging, sys, structlog
from gateway.logs import configure_logs
configure_logs(pretty=sys.argv[1] == "pretty", level=sys.argv[2])
log = structlog.get_logger("x")
log.debug("only.when.asked")
try:
    raise RuntimeError(sys.argv[3])
except RuntimeError:
    log.exception("part.broke", part="slack")
logging.getLogger("vendor").error("failed: %s", sys.argv[3])
logging.getLogger("vendor").warning("chatter")
"""


def logged(style, level="INFO"):
    """What a process writes to standard error; nothing may reach standard output."""
    command = [sys.executable, "-W", "error", "-c", PROGRAM, style, level, SECRETS[0]]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert SECRETS[0] not in done.stderr
    return done.stderr


def test_a_process_writes_json_lines_without_secrets():
    event, vendor = logged("json").splitlines()
    told = json.loads(event)
    assert (told["event"], told["part"], told["level"]) == ("part.broke", "slack", "error")
    assert "RuntimeError: [secret]" in told["exception"]
    assert vendor == "vendor: failed: [secret]"


def test_a_person_gets_text_and_more_of_it_when_asked():
    assert "only.when.asked" not in logged("pretty")
    shown = logged("pretty", "DEBUG")
    assert "only.when.asked" in shown
    assert "RuntimeError: [secret]" in shown
