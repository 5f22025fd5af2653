"""Security of the console: which hosts are served, and who acts (gateway.md, Routes; T26)."""

import hmac
import ipaddress
from collections.abc import Iterable, Mapping
from hashlib import sha256
from urllib.parse import urlsplit

from aiohttp import web
from pydantic import SecretStr

from adapters.console.errors import Forbidden, Unauthenticated
from adapters.console.parse import Caller
from adapters.console.sessions import People, Session, Sessions
from adapters.console.settings import ConsoleSettings
from core.conversation import Person

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    # With no-referrer a browser would send `Origin: null` along with our own page's writes.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
READS = frozenset({"GET", "HEAD"})
CSRF_HEADER = "X-Interlock-CSRF"
ACTOR_HEADER = "X-Interlock-Actor"
PROXY_NAMES = ("forwarded", "via")
THIS_MACHINE_ONLY = (
    "This console is open to this machine only. "
    "Set INTERLOCK_API_TOKEN to reach it through a proxy or from elsewhere."
)


class Door:
    """Decides, for each request, whether it is served and who it speaks for."""

    def __init__(self, settings: ConsoleSettings, *, sessions: Sessions, people: People) -> None:
        self._settings = settings
        self._sessions = sessions
        self._people = people
        served = ",".join(settings.hosts).encode()
        # Cookies do not know ports: two gateways on one machine would log each other out.
        self.cookie = f"interlock_{sha256(served).hexdigest()[:8]}"

    @property
    def asks_for_token(self) -> bool:
        """Say whether people must log in."""
        return self._settings.token is not None

    def check_host(self, request: web.Request) -> None:
        """Refuse a Host that is not ours, so that no rebound name reads a local console (T26).

        Raises:
            Forbidden: the host is not listed.
        """
        hosts = request.headers.getall("Host", [])
        if len(hosts) != 1 or not is_served(hosts[0], self._settings.hosts):
            raise Forbidden("This host is not in [server] hosts.", code="forbidden_host")

    def caller(self, request: web.Request) -> Caller:
        """Return who speaks: the bearer of a token, or the person picked in a session.

        Raises:
            Unauthenticated: neither, or a wrong one.
            Forbidden: a session's write that did not come from our own page.
        """
        # Who shows a token means it: a wrong one is told, whatever cookie rides along.
        shown = request.headers.get("Authorization")
        if shown is not None:
            return self._bearer(shown, request.headers.get(ACTOR_HEADER))
        return Caller(person=self.session(request).person, at_console=True)

    def session(self, request: web.Request) -> Session:
        """Return the browser's session, checked against forgery.

        Raises:
            Unauthenticated: there is none.
            Forbidden: the request did not come from our own page.
        """
        session = self.known(request)
        if session is None:
            raise Unauthenticated("Send the bearer token, or open the console first.")
        self._check_near(request)
        self._check_origin(request)
        return session

    def known(self, request: web.Request) -> Session | None:
        """Return the session that the cookie names, if it lives."""
        return self._sessions.find(request.cookies.get(self.cookie))

    def admit_visitor(self, request: web.Request) -> Session:
        """Return the visitor's session; without a token set, somebody at this machine gets one.

        Raises:
            Unauthenticated: a token is set, and must be shown at the login first.
            Forbidden: no token is set and the request came from elsewhere.
        """
        self._check_near(request)
        session = self.known(request)
        if session is not None:
            return session
        if self.asks_for_token:
            raise Unauthenticated("Log in with the token first.")
        return self._sessions.open()

    def log_in(self, request: web.Request, token: str) -> Session:
        """Trade the token for a session.

        Raises:
            Forbidden: the form was not ours.
            Unauthenticated: it is not the token.
        """
        self.check_page(request)
        if self._settings.token is None or not matches(token, [self._settings.token]):
            raise Unauthenticated("That is not the token.")
        return self._sessions.open()

    def check_page(self, request: web.Request) -> None:
        """Demand that a form was sent by a page of ours.

        Raises:
            Forbidden: its Origin is another's or missing.
        """
        if not is_origin(request.headers.get("Origin"), self._settings.hosts):
            raise Forbidden(
                "This did not come from the console's own page.", code="forbidden_origin"
            )

    def give_cookie(self, request: web.Request, response: web.Response, session: Session) -> None:
        """Put the session's cookie on an answer; `Secure` where the page came over TLS."""
        # Behind a proxy only the page's own Origin tells that people came over TLS.
        secure = request.secure or request.headers.get("Origin", "").startswith("https://")
        response.set_cookie(
            self.cookie, session.id, path="/", httponly=True, samesite="Strict", secure=secure
        )

    def _bearer(self, shown: str, actor: str | None) -> Caller:
        scheme, _, token = shown.partition(" ")
        if scheme.lower() != "bearer" or not matches(token.strip(), self._settings.bearer_tokens):
            raise Unauthenticated("That is not the token.")
        return Caller(person=self._actor(actor))

    def _actor(self, actor: str | None) -> Person:
        if actor is None:
            return Person(id="api:token", name="API", platform="api")
        if not is_actor(actor):
            raise Forbidden(f"{ACTOR_HEADER} may name console: and api: ids only.")
        known = self._people.find(actor)
        return known or Person(id=actor, platform=actor.partition(":")[0])

    def _check_near(self, request: web.Request) -> None:
        # With a token to show, proxies are welcome: they are why it is set.
        if self.asks_for_token:
            return
        if was_forwarded(request.headers) or not is_loopback(request.remote):
            raise Forbidden(THIS_MACHINE_ONLY)

    def _check_origin(self, request: web.Request) -> None:
        # Browsers leave Origin out of plain reads of one's own; where it is, it must be ours.
        if request.method in READS and "Origin" not in request.headers:
            return
        self.check_page(request)
        if request.method not in READS and not request.headers.get(CSRF_HEADER):
            raise Forbidden(f"A write from the console needs {CSRF_HEADER}.", code="forbidden_csrf")


def is_served(host: str, hosts: Iterable[str]) -> bool:
    """Say whether a Host header is exactly one of ours; case does not matter."""
    return host.lower() in {served.lower() for served in hosts}


def is_origin(origin: str | None, hosts: Iterable[str]) -> bool:
    """Say whether an Origin is a page on one of our hosts."""
    try:
        parts = urlsplit(origin or "")
    except ValueError:
        return False
    # Origin has no path and no user; compared as a whole, so none can hide there.
    bare = f"{parts.scheme}://{parts.netloc}" == (origin or "").lower()
    return bare and parts.scheme in {"http", "https"} and is_served(parts.netloc, hosts)


def is_actor(actor: str) -> bool:
    """Say whether a program may act under this id: printable, `console:` or `api:`, short."""
    return (
        actor.startswith(("console:", "api:"))
        and len(actor) <= 255
        and actor.isascii()
        and actor.isprintable()
    )


def is_loopback(address: str | None) -> bool:
    """Say whether a peer is this machine."""
    try:
        return ipaddress.ip_address((address or "").partition("%")[0]).is_loopback
    except ValueError:
        return False


def was_forwarded(headers: Iterable[str]) -> bool:
    """Say whether a proxy left its name: Forwarded, X-Forwarded-*, Via."""
    names = [name.lower() for name in headers]
    return any(name in PROXY_NAMES or name.startswith("x-forwarded-") for name in names)


def matches(shown: str, tokens: Iterable[SecretStr]) -> bool:
    """Compare with each token in constant time."""
    # Digests are of one length, and every token is compared, so time tells nothing.
    digest = sha256(shown.encode("utf-8", "surrogateescape")).digest()
    found = [
        hmac.compare_digest(digest, sha256(token.get_secret_value().encode()).digest())
        for token in tokens
        # A token that was set to nothing must not open the door to nothing.
        if token.get_secret_value()
    ]
    return any(found)
