"""Deliveries: GitHub's webhooks as tests send them, signed as GitHub signs."""

import hashlib
import hmac
import json
from typing import Any

SECRET = "a secret of sixteen or more"
GUID = "72d3162e-cc78-11e3-81ab-4c9367dc0958"


def signature(body: bytes, secret: str = SECRET) -> str:
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


def headers(event: str, body: bytes, **more: str) -> dict[str, str]:
    given = {
        "Content-Type": "application/json",
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": GUID,
        "X-Hub-Signature-256": signature(body),
    }
    return given | {name.replace("_", "-"): value for name, value in more.items()}


def encoded(payload: Any) -> bytes:
    return json.dumps(payload).encode()


def repository(**more: Any) -> dict[str, Any]:
    return {"full_name": "acme/app", "default_branch": "main"} | more


def workflow_run(conclusion: str = "failure", **more: Any) -> dict[str, Any]:
    run = {
        "id": 7,
        "name": "CI",
        "head_branch": "main",
        "head_sha": "abc123",
        "display_title": "Fix the login",
        "conclusion": conclusion,
        "html_url": "https://github.com/acme/app/actions/runs/7",
        "pull_requests": [],
        "head_repository": {"full_name": "acme/app"},
    }
    return {
        "action": "completed",
        "workflow_run": run | more,
        "repository": repository(),
        "sender": {"login": "ada"},
    }


def pull_request(action: str = "opened", **more: Any) -> dict[str, Any]:
    pull = {
        "number": 12,
        "title": "Fix the login",
        "html_url": "https://github.com/acme/app/pull/12",
    }
    return {
        "action": action,
        "pull_request": pull | more,
        "repository": repository(),
        "sender": {"login": "ada"},
    }


def issue_comment(body: str = "Looks good") -> dict[str, Any]:
    return {
        "action": "created",
        "issue": {"number": 12, "title": "Fix the login"},
        "comment": {"body": body, "html_url": "https://github.com/acme/app/pull/12#c1"},
        "repository": repository(),
        "sender": {"login": "ada"},
    }
