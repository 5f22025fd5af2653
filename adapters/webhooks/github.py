"""GitHub: what a delivery of its webhook says, by the table of digests.md; pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import parse_qs

from pydantic import SecretStr

from adapters.shared.signatures import hmac_sha256_hex, same_digest
from adapters.webhooks.payload import Payload
from core.conversation import OutsideEvent
from core.errors import InvalidInput

SIGNATURE = "X-Hub-Signature-256"
DELIVERY = "X-GitHub-Delivery"
_SIGNATURE_FORM = re.compile(r"sha256=([0-9a-f]{64})")
_NAME_FORM = re.compile(r"[a-z][a-z0-9_]{0,63}")

_FAILED = frozenset({"failure", "timed_out", "startup_failure"})
_TOLD_BY_WORKFLOW_RUN = frozenset({"check_suite", "check_run", "workflow_job"})
_OBJECTS = {
    "discussion": "discussion",
    "discussion_comment": "discussion",
    "issue_comment": "issue",
    "issues": "issue",
    "pull_request": "pull_request",
    "pull_request_review": "pull_request",
    "pull_request_review_comment": "pull_request",
    "pull_request_review_thread": "pull_request",
}
"""Events about one numbered thing, and where in the payload it stands."""
_ALERTS = frozenset(
    {
        "code_scanning_alert",
        "dependabot_alert",
        "repository_advisory",
        "repository_vulnerability_alert",
        "secret_scanning_alert",
        "security_advisory",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What one delivery says: the platform's name of its kind, and the events worth keeping."""

    event: str
    events: tuple[OutsideEvent, ...] = ()


def verify(secrets: Sequence[SecretStr], headers: Mapping[str, str], body: bytes) -> bool:
    """Say whether one of the secrets signed exactly these bytes (PB-031).

    Only SHA-256 counts; a header of any other form is refused, and so is an empty list of secrets.
    """
    # A full match: with `$` a newline at the end would pass.
    form = _SIGNATURE_FORM.fullmatch(_header(headers, SIGNATURE))
    if form is None:
        return False
    keys = (secret.get_secret_value().encode() for secret in secrets)
    return any(same_digest(hmac_sha256_hex(key, body), form[1]) for key in keys)


def parse(headers: Mapping[str, str], body: bytes) -> Parsed:
    """Read a verified delivery: JSON, or a form whose field `payload` holds it (PB-070).

    An unknown shape gives fewer events or plainer ones, never an error.

    Raises:
        InvalidInput: the body is not JSON at all.
    """
    payload = Payload.from_bytes(_json_of(headers, body))
    # Headers are not signed: the event's name must not become a path, a key or a line of its own.
    name = _header(headers, "X-GitHub-Event")
    if not _NAME_FORM.fullmatch(name):
        return Parsed(event="")
    if name == "ping" or _is_told_elsewhere(name, payload):
        return Parsed(event=name)
    return Parsed(event=name, events=(_event(_Facts(name=name, payload=payload)),))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facts:
    """A delivery with what nearly every event needs of it."""

    name: str
    payload: Payload

    @property
    def repo(self) -> str:
        """Return `acme/app`, or the organisation's name where an event has no repository."""
        repository = self.payload.text("repository", "full_name")
        return repository or self.payload.text("organization", "login") or "-"

    @property
    def action(self) -> str:
        return self.payload.text("action", limit=64)

    @property
    def kind(self) -> str:
        return f"{self.name}.{self.action}" if self.action else self.name

    @property
    def sender(self) -> str:
        return self.payload.text("sender", "login") or "somebody"

    def attributes(self, **more: str | int | None) -> dict[str, Any]:
        """Return what the model sees beside the text; empty values are left out."""
        given = {"repo": self.repo, "sender": self.payload.text("sender", "login"), **more}
        return {name: value for name, value in given.items() if value not in (None, "")}


def _event(facts: _Facts) -> OutsideEvent:
    if facts.name == "workflow_run" and facts.action == "completed":
        return _workflow_run(facts)
    if facts.name in _OBJECTS:
        return _numbered(facts)
    if facts.name in _ALERTS:
        return _alert(facts)
    return _generic(facts)


def _workflow_run(facts: _Facts) -> OutsideEvent:
    run = Payload(facts.payload.at("workflow_run"))
    conclusion = run.text("conclusion") or "unknown"
    outcome = {"success": "passed"}.get(conclusion, conclusion)
    outcome = "failed" if conclusion in _FAILED else outcome
    branch, pull_request = _branch(facts, run), run.first("pull_requests").number("number")
    workflow = run.text("name") or facts.payload.text("workflow", "name") or "workflow"
    prefix = f"github:{facts.repo}:{_key_part(branch)}:{_key_part(workflow)}:"
    # A run for a pull request may carry the name of the default branch of its fork.
    on_default = pull_request is None and branch == facts.payload.text(
        "repository", "default_branch"
    )
    return OutsideEvent(
        topic=_topic(facts, pull_request, branch),
        event_kind="ci-status",
        summary=_line(facts, f"{workflow} {outcome} on {branch}", run.text("display_title")),
        priority=_ci_priority(outcome, on_default=on_default),
        outcome=outcome,
        dedupe_key=f"{prefix}{run.text('head_sha')}:{outcome}",
        coalesce_key=None if pull_request is None else f"github:{facts.repo}#{pull_request}",
        clears=prefix if outcome == "passed" else None,
        attributes=facts.attributes(
            branch=branch, number=pull_request, url=run.text("html_url", limit=500)
        ),
        payload={"runId": run.number("id"), "sha": run.text("head_sha"), "workflow": workflow},
    )


def _numbered(facts: _Facts) -> OutsideEvent:
    place = _OBJECTS[facts.name]
    thing = Payload(facts.payload.at(place))
    number = thing.number("number")
    if number is None:
        # Without a number there is no object to group by, but it did happen.
        return _generic(facts)
    detail = Payload(facts.payload.at("comment") or facts.payload.at("review"))
    url = detail.text("html_url", limit=500) or thing.text("html_url", limit=500)
    done = "merged" if facts.action == "closed" and thing.at("merged") is True else facts.action
    what = f"{facts.name} {done} by {facts.sender}".replace("_", " ")
    said = thing.text("title")
    body = detail.text("body")
    return OutsideEvent(
        topic=_topic(facts, number, ""),
        event_kind=facts.kind,
        summary=_line(facts, what, f"{said}: {body}" if body else said, number=number),
        priority="medium",
        coalesce_key=f"github:{facts.repo}#{number}",
        attributes=facts.attributes(number=number, url=url),
        payload={"number": number, "action": facts.action},
    )


def _alert(facts: _Facts) -> OutsideEvent:
    alert = Payload(facts.payload.at("alert") or facts.payload.at("security_advisory"))
    severity = alert.text("security_advisory", "severity") or alert.text("severity")
    name = alert.number("number") or alert.text("ghsa_id") or facts.payload.text("action")
    said = alert.text("security_advisory", "summary") or alert.text("summary")
    return OutsideEvent(
        topic=f"github:{facts.repo}",
        event_kind="security-alert",
        summary=_line(facts, f"{facts.name.replace('_', ' ')} {facts.action}".strip(), said),
        priority="urgent" if severity == "critical" else "high",
        dedupe_key=f"github:{facts.repo}:{facts.name}:{name}:{facts.action}",
        coalesce_key=f"github:{facts.repo}:security",
        attributes=facts.attributes(severity=severity, url=alert.text("html_url", limit=500)),
        payload={"action": facts.action},
    )


def _generic(facts: _Facts) -> OutsideEvent:
    """Keep what has no row of its own in the table, so that nothing is dropped."""
    ref = facts.payload.text("ref")
    branch = ref.removeprefix("refs/heads/") if ref.startswith("refs/heads/") else ""
    failed = facts.payload.text("deployment_status", "state") in {"failure", "error"}
    commits = facts.payload.size("commits")
    return OutsideEvent(
        topic=_topic(facts, None, branch),
        event_kind=facts.kind,
        summary=_line(
            facts,
            f"{facts.kind.replace('_', ' ').replace('.', ' ')} by {facts.sender}",
            f"{commits} commits on {branch}" if commits and branch else "",
        ),
        priority="high" if failed else "low",
        outcome="failed" if failed else None,
        coalesce_key=f"github:{facts.repo}:{ref}" if ref else f"github:{facts.repo}",
        attributes=facts.attributes(branch=branch, url=facts.payload.text("compare", limit=500)),
        payload={"action": facts.action},
    )


def _is_told_elsewhere(name: str, payload: Payload) -> bool:
    """Say whether a workflow_run tells the same better: checks of GitHub's own Actions."""
    if name not in _TOLD_BY_WORKFLOW_RUN:
        return False
    app = payload.text(name, "app", "slug")
    return name == "workflow_job" or app == "github-actions"


def _ci_priority(outcome: str, *, on_default: bool) -> Literal["low", "medium", "high"]:
    if outcome != "failed":
        return "low"
    return "high" if on_default else "medium"


def _branch(facts: _Facts, run: Payload) -> str:
    """Return the branch, with its owner in front when it is a fork's: its `main` is not ours."""
    branch = run.text("head_branch") or "-"
    head = run.text("head_repository", "full_name")
    if not head or head.casefold() == facts.repo.casefold():
        return branch
    return f"{head.partition('/')[0]}:{branch}"


def _topic(facts: _Facts, number: int | None, branch: str) -> str:
    if number is not None:
        return f"github:{facts.repo}#{number}"
    return f"github:{facts.repo}@{branch}" if branch else f"github:{facts.repo}"


def _line(facts: _Facts, what: str, said: str, *, number: int | None = None) -> str:
    where = facts.repo if number is None else f"{facts.repo}#{number}"
    return f"{where}: {what}: {said}" if said else f"{where}: {what}"


def _key_part(text: str) -> str:
    """Escape what separates the parts of a key: `CI` must not clear `CI: lint`."""
    return text.replace("%", "%25").replace(":", "%3A")


def _json_of(headers: Mapping[str, str], body: bytes) -> bytes:
    # A hook may be set to send forms; the signature covers the form's own bytes.
    kind = _header(headers, "Content-Type").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        return body
    try:
        fields = parse_qs(body, max_num_fields=16)
    except ValueError as error:
        raise InvalidInput("the form cannot be read; send one field named payload") from error
    return fields.get(b"payload", [b""])[0]


def _header(headers: Mapping[str, str], name: str) -> str:
    """Return a header by its name in any case, or an empty text."""
    found = headers.get(name)
    if found is not None:
        return found
    lowered = name.lower()
    return next((value for key, value in headers.items() if key.lower() == lowered), "")
