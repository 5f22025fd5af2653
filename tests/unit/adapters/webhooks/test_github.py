"""What a GitHub delivery says, and whose signature it bears."""

from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from adapters.webhooks.github import parse, verify
from core.errors import InvalidInput
from tests.unit.adapters.webhooks.deliveries import (
    SECRET,
    encoded,
    headers,
    issue_comment,
    pull_request,
    repository,
    signature,
    workflow_run,
)

OFFICIAL = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
SECRETS = (SecretStr(SECRET),)
BODY = b'{"title": "\\u00e9\xf0\x9f\x9a\xa6"}'


def event(name, payload):
    body = encoded(payload)
    (only,) = parse(headers(name, body), body).events
    return only


def test_the_official_vector_verifies():
    secrets = (SecretStr("It's a Secret to Everybody"),)
    signed = {"X-Hub-Signature-256": f"sha256={OFFICIAL}"}
    assert verify(secrets, signed, b"Hello, World!")


def test_the_exact_bytes_are_signed_whatever_they_hold():
    """PB-031."""
    assert verify(SECRETS, {"x-hub-signature-256": signature(BODY)}, BODY)
    assert not verify(SECRETS, {"x-hub-signature-256": signature(BODY)}, BODY.decode().encode()[1:])


@pytest.mark.parametrize(
    "header",
    [
        "",
        "sha256=",
        signature(BODY)[:-1],
        signature(BODY).upper(),
        signature(BODY) + "\n",
        signature(BODY) + " ",
        signature(BODY).replace("sha256", "sha1"),
        signature(BODY).removeprefix("sha256="),
        signature(BODY, "another secret of length"),
        "sha256=" + "é" * 64,
        "sha256=" + "\u0663" * 64,
        f"{signature(BODY)}, {signature(BODY)}",
    ],
)
def test_any_other_header_is_refused(header):
    assert not verify(SECRETS, {"X-Hub-Signature-256": header}, BODY)


def test_the_old_signature_and_an_empty_list_of_secrets_count_for_nothing():
    assert not verify(SECRETS, {"X-Hub-Signature": signature(BODY)}, BODY)
    assert not verify((), {"X-Hub-Signature-256": signature(BODY)}, BODY)


def test_while_a_secret_is_changed_both_are_good():
    both = (SecretStr("the next secret, also long"), SecretStr(SECRET))
    assert verify(both, {"X-Hub-Signature-256": signature(BODY)}, BODY)


@given(position=st.integers(0, len(BODY) * 8 - 1))
def test_no_bit_of_the_body_can_be_flipped(position):
    flipped = bytearray(BODY)
    flipped[position // 8] ^= 1 << position % 8
    assert not verify(SECRETS, {"X-Hub-Signature-256": signature(BODY)}, bytes(flipped))


def test_red_on_the_default_branch_is_high():
    failed = event("workflow_run", workflow_run())
    assert failed.model_dump(exclude={"attributes", "payload"}, by_alias=False) == {
        "topic": "github:acme/app@main",
        "event_kind": "ci-status",
        "summary": "acme/app: CI failed on main: Fix the login",
        "priority": "high",
        "outcome": "failed",
        "dedupe_key": "github:acme/app:main:CI:abc123:failed",
        "coalesce_key": None,
        "clears": None,
        "metadata": {},
    }
    assert failed.attributes["url"] == "https://github.com/acme/app/actions/runs/7"


def test_red_on_a_pull_request_is_medium_and_belongs_to_it():
    payload = workflow_run(head_branch="login", pull_requests=[{"number": 12}])
    failed = event("workflow_run", payload)
    assert (failed.topic, failed.priority) == ("github:acme/app#12", "medium")
    assert failed.coalesce_key == "github:acme/app#12"
    assert failed.dedupe_key == "github:acme/app:login:CI:abc123:failed"


def test_red_on_another_branch_is_medium():
    failed = event("workflow_run", workflow_run(head_branch="login"))
    assert (failed.topic, failed.priority) == ("github:acme/app@login", "medium")
    assert failed.coalesce_key is None


def test_the_main_of_a_fork_is_not_ours():
    payload = workflow_run(head_repository={"full_name": "mallory/app"})
    failed = event("workflow_run", payload)
    assert (failed.topic, failed.priority) == ("github:acme/app@mallory:main", "medium")
    assert failed.dedupe_key == "github:acme/app:mallory%3Amain:CI:abc123:failed"


def test_green_is_low_and_clears_the_red_of_its_workflow_alone():
    passed = event("workflow_run", workflow_run("success", name="CI: slow"))
    assert (passed.outcome, passed.priority) == ("passed", "low")
    assert passed.clears == "github:acme/app:main:CI%3A slow:"
    assert passed.dedupe_key == "github:acme/app:main:CI%3A slow:abc123:passed"


@pytest.mark.parametrize(
    ("conclusion", "outcome", "priority"),
    [
        ("timed_out", "failed", "high"),
        ("startup_failure", "failed", "high"),
        ("cancelled", "cancelled", "low"),
        ("skipped", "skipped", "low"),
        (None, "unknown", "low"),
    ],
)
def test_every_end_of_a_run_has_an_outcome(conclusion, outcome, priority):
    ended = event("workflow_run", workflow_run(conclusion))
    assert (ended.outcome, ended.priority, ended.clears) == (outcome, priority, None)


@pytest.mark.parametrize(
    ("name", "payload", "kind", "summary"),
    [
        (
            "pull_request",
            pull_request(),
            "pull_request.opened",
            "acme/app#12: pull request opened by ada: Fix the login",
        ),
        (
            "pull_request",
            pull_request("closed", merged=True),
            "pull_request.closed",
            "acme/app#12: pull request merged by ada: Fix the login",
        ),
        (
            "issue_comment",
            issue_comment("Looks\n\x00good"),
            "issue_comment.created",
            "acme/app#12: issue comment created by ada: Fix the login: Looks good",
        ),
    ],
)
def test_what_is_said_about_one_thing_belongs_to_it(name, payload, kind, summary):
    said = event(name, payload)
    assert (said.event_kind, said.summary, said.priority) == (kind, summary, "medium")
    assert said.topic == said.coalesce_key == "github:acme/app#12"
    assert (said.dedupe_key, said.clears) == (None, None)


@pytest.mark.parametrize(
    ("name", "payload", "kind", "priority", "coalesce_key"),
    [
        ("star", {"action": "created"}, "star.created", "low", "github:acme/app"),
        ("push", {"ref": "refs/heads/x"}, "push", "low", "github:acme/app:refs/heads/x"),
        ("workflow_run", {"action": "requested"}, "workflow_run.requested", "low", None),
        (
            "deployment_status",
            {"deployment_status": {"state": "failure"}},
            "deployment_status",
            "high",
            None,
        ),
        ("dependabot_alert", {"action": "created"}, "security-alert", "high", None),
        (
            "dependabot_alert",
            {"alert": {"security_advisory": {"severity": "critical"}}},
            "security-alert",
            "urgent",
            "github:acme/app:security",
        ),
        ("pull_request", {"action": "opened"}, "pull_request.opened", "low", "github:acme/app"),
        ("brand_new", {}, "brand_new", "low", "github:acme/app"),
    ],
)
def test_nothing_is_dropped_for_being_unknown(name, payload, kind, priority, coalesce_key):
    said = event(name, payload | {"repository": repository()})
    assert (said.event_kind, said.priority) == (kind, priority)
    assert coalesce_key in (None, said.coalesce_key)


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("ping", {"zen": "Keep it logically awesome."}),
        ("workflow_job", {"action": "queued"}),
        ("check_run", {"check_run": {"app": {"slug": "github-actions"}}}),
        ("check_suite", {"check_suite": {"app": {"slug": "github-actions"}}}),
        ("", {}),
        ("../../etc", {}),
    ],
)
def test_what_is_told_elsewhere_or_is_no_event_is_left_out(name, payload):
    body = encoded(payload)
    assert parse(headers(name, body), body).events == ()


def test_checks_of_another_app_are_told():
    said = event("check_run", {"check_run": {"app": {"slug": "circleci"}}, "action": "completed"})
    assert said.event_kind == "check_run.completed"


def test_a_form_holds_the_same_event_as_json():
    """PB-070."""
    body = urlencode({"payload": encoded(workflow_run()).decode()}).encode()
    form = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}
    given = headers("workflow_run", body) | form
    assert parse(given, body).events == (event("workflow_run", workflow_run()),)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"NaN", b'{"a": NaN}', b"[" * 100_000, b'"\\ud800"', b"\xff\xfe", b'{"a":' * 9_999],
)
@pytest.mark.parametrize("kind", ["application/json", "application/x-www-form-urlencoded"])
def test_what_is_no_json_is_bad_input(body, kind):
    with pytest.raises(InvalidInput):
        parse(headers("push", body) | {"Content-Type": kind}, body)


def test_a_long_text_is_cut_and_stays_on_one_line():
    said = event("issue_comment", issue_comment("x\n" * 400_000))
    assert len(said.summary) < 600
    assert "\n" not in said.summary


WORDS = st.sampled_from(
    [
        *("action", "alert", "comment", "conclusion", "full_name", "head_branch", "issue", "name"),
        *("number", "pull_request", "pull_requests", "ref", "repository", "sender", "workflow_run"),
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=20,
)
NAMES = ["workflow_run", "pull_request", "issue_comment", "push", "secret_scanning_alert", "x"]


@given(name=st.sampled_from(NAMES), payload=JSON)
def test_no_shape_is_an_error(name, payload):
    body = encoded(payload)
    assert len(parse(headers(name, body), body).events) == 1
