from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from adapters.console.security import (
    is_actor,
    is_loopback,
    is_origin,
    is_served,
    matches,
    was_forwarded,
)
from core.testing import Say
from tests.unit.adapters.console.desk import MAIN, TOKEN, Setup, open_desk

HOSTS = ("localhost:8787", "127.0.0.1:8787", "bot.example.com")
FORGED_HOSTS = [
    "evil.example",
    "localhost",
    "localhost:80",
    "localhost:8787.evil.example",
    "evil.localhost:8787",
    "127.0.0.1:8787@evil.example",
    "127.1:8787",
    "[::1]:8787",
    "0.0.0.0:8787",
    "",
    " localhost:8787",
]
FORGED_ORIGINS = [
    None,
    "null",
    "",
    "https://evil.example",
    "http://localhost",
    "http://localhost:9999",
    "http://localhost:8787.evil.example",
    "http://localhost:8787@evil.example",
    "http://user@localhost:8787",
    "http://localhost:8787/",
    "ftp://localhost:8787",
    "chrome-extension://localhost:8787",
    "http://localhost:8787 http://evil.example",
    "http://[",
]


@pytest.mark.parametrize("host", FORGED_HOSTS, ids=repr)
def test_a_forged_host_is_not_served(host):
    assert not is_served(host, HOSTS)


@pytest.mark.parametrize("host", ["localhost:8787", "LOCALHOST:8787", "bot.example.com"])
def test_a_listed_host_is_served(host):
    assert is_served(host, HOSTS)


@pytest.mark.parametrize("origin", FORGED_ORIGINS, ids=repr)
def test_a_forged_origin_is_seen_through(origin):
    assert not is_origin(origin, HOSTS)


@pytest.mark.parametrize("origin", ["http://localhost:8787", "https://bot.example.com"])
def test_our_own_pages_are_known_by_their_origin(origin):
    assert is_origin(origin, HOSTS)


@given(st.text(max_size=60))
def test_any_text_for_an_origin_is_judged_without_a_fault(origin):
    assert is_origin(origin, HOSTS) == (
        origin.lower() in {f"{s}://{h}" for s in ("http", "https") for h in HOSTS}
    )


@pytest.mark.parametrize(
    ("address", "near"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("10.0.0.1", False),
        ("::ffff:1.2.3.4", False),
        (None, False),
        ("x", False),
    ],
)
def test_this_machine_is_told_from_others(address, near):
    assert is_loopback(address) is near


@pytest.mark.parametrize("name", ["Forwarded", "VIA", "X-Forwarded-For", "x-forwarded-host"])
def test_a_proxy_is_known_by_its_headers(name):
    assert was_forwarded({name: "x"})
    assert not was_forwarded({"Accept": "x"})


@pytest.mark.parametrize(
    ("actor", "allowed"),
    [
        ("console:local:ada", True),
        ("api:ci", True),
        ("slack:T1:U1", False),
        ("console:\n", False),
        ("api:" + "x" * 300, False),
        ("", False),
    ],
)
def test_a_program_acts_for_console_and_api_ids_only(actor, allowed):
    assert is_actor(actor) is allowed


@pytest.mark.parametrize(
    ("shown", "fits"), [("right", True), ("wrong", False), ("", False), ("r\udcffght", False)]
)
def test_a_token_fits_or_not(shown, fits):
    assert matches(shown, [SecretStr("other"), SecretStr("right")]) is fits


def test_an_empty_token_opens_nothing():
    assert not matches("", [SecretStr("")])


@pytest.mark.parametrize("host", ["evil.example", "localhost:1"])
@pytest.mark.parametrize("path", ["/", "/login", "/static/app.js", "/api/v1/threads", "/api/none"])
async def test_every_route_refuses_a_strange_host(host, path):
    async with open_desk() as desk:
        answer = await desk.ask("GET", path, headers={"Host": host, **desk.bearer})
        assert (answer.status, answer.error["code"]) == (403, "forbidden_host")


@pytest.mark.parametrize(
    ("left_out", "code"), [("Origin", "forbidden_origin"), ("X-Interlock-CSRF", "forbidden_csrf")]
)
async def test_a_write_without_one_of_its_proofs_is_refused(left_out, code):
    async with open_desk() as desk:
        await desk.visit()
        headers = {name: value for name, value in desk.written.items() if name != left_out}
        answer = await desk.ask("POST", f"{MAIN}/messages", json={"contents": "x"}, headers=headers)
        assert (answer.status, answer.error["code"]) == (403, code)
        assert not desk.gate.admitted


@pytest.mark.parametrize("origin", [o for o in FORGED_ORIGINS if o])
async def test_another_site_can_neither_write_nor_read_with_the_cookie(origin):
    async with open_desk() as desk:
        await desk.visit()
        headers = {"Origin": origin, "X-Interlock-CSRF": "1"}
        for method, path in (
            ("POST", f"{MAIN}/messages"),
            ("GET", "/api/v1/threads"),
            ("POST", "/api/v1/session"),
        ):
            answer = await desk.ask(method, path, headers=headers)
            assert answer.status == 403
        assert not desk.gate.admitted


async def test_the_cookie_is_for_our_page_alone():
    async with open_desk() as desk:
        answer = await desk.ask("GET", "/")
        cookie = answer.headers["Set-Cookie"]
        assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))


@pytest.mark.parametrize("name", ["Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Proto"])
async def test_a_proxy_in_front_of_an_open_console_is_turned_away(name):
    async with open_desk() as desk:
        answer = await desk.ask("GET", "/", headers={name: "1.2.3.4"})
        assert answer.status == 403
        assert "INTERLOCK_API_TOKEN" in answer.text
        assert "Set-Cookie" not in answer.headers
        await desk.visit()
        assert (await desk.ask("GET", "/api/v1/threads", headers={name: "x"})).status == 403


@pytest.mark.parametrize(
    "shown", ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Token {TOKEN}", f"Bearer {TOKEN}x"]
)
async def test_a_wrong_token_is_401_even_beside_a_cookie(shown):
    async with open_desk() as desk:
        await desk.visit()
        answer = await desk.ask("GET", "/api/v1/threads", headers={"Authorization": shown})
        assert (answer.status, answer.error["code"]) == (401, "unauthorized")
        assert answer.headers["WWW-Authenticate"] == "Bearer"


async def test_without_token_and_cookie_the_api_is_closed():
    async with open_desk() as desk:
        routes = [route for route in desk.adapter.routes() if route.path.startswith("/api/v1")]
        assert len(routes) > 15
        for route in routes:
            path = route.path.replace("{mark:seen|dismiss|archive}", "seen")
            path = path.translate({ord("{"): None, ord("}"): None})
            assert (await desk.ask(route.method, path)).status == 401, path


async def test_a_programs_actor_header_says_for_whom_it_acts():
    async with open_desk(Setup(script=[Say(text="ok")])) as desk:
        await desk.call(
            "POST", f"{MAIN}/messages", {"contents": "x"}, X_Interlock_Actor="console:local:bob"
        )
        assert desk.gate.admitted[0].sender.id == "console:local:bob"
        assert desk.gate.admitted[0].sender.name == "Bob"
        await desk.runtime.idle()


async def test_a_programs_actor_header_cannot_name_a_slack_user():
    async with open_desk() as desk:
        answer = await desk.call("GET", "/api/v1/threads", X_Interlock_Actor="slack:T1:U1")
        assert answer.status == 403


async def test_a_browser_has_no_actor_header():
    async with open_desk(Setup(script=[Say(text="ok")])) as desk:
        await desk.visit()
        headers = {**desk.written, "X-Interlock-Actor": "console:local:bob"}
        await desk.ask("POST", f"{MAIN}/messages", json={"contents": "x"}, headers=headers)
        assert desk.gate.admitted[0].sender.id == "console:local:ada"
        await desk.runtime.idle()


@pytest.mark.parametrize("path", ["/", "/static/app.js", "/api/v1/threads", "/api/none", "/login"])
async def test_every_answer_carries_our_headers(path):
    async with open_desk() as desk:
        answer = await desk.ask("GET", path, allow_redirects=False)
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
        assert "unsafe" not in answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "same-origin"


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"x" * (1024 * 1024 + 1), {}, 413),
        (b"{}", {"Content-Encoding": "gzip"}, 415),
        (b"{", {}, 400),
        (b'{"contents": "\\u0000"}', {}, 400),
        (b'{"contents": ' + b"[" * 100_000, {}, 400),
    ],
    ids=["too large", "compressed", "broken", "NUL", "deep"],
)
async def test_a_hostile_body_is_turned_away_and_nothing_is_stored(body, headers, status):
    async with open_desk() as desk:
        headers = {**desk.bearer, **headers}
        answer = await desk.ask("POST", f"{MAIN}/messages", data=BytesIO(body), headers=headers)
        assert answer.status == status
        assert answer.error["message"]
        assert not desk.gate.admitted


async def test_an_endless_body_is_cut_off():
    async def endless():
        for _ in range(100):
            yield b" " * 65_536

    async with open_desk() as desk:
        answer = await desk.ask("POST", f"{MAIN}/messages", data=endless(), headers=desk.bearer)
        assert answer.status == 413
