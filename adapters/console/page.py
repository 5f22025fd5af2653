"""The page: the console's shell, its scripts and styles, and the login form."""

from hashlib import sha256
from html import escape
from pathlib import Path
from urllib.parse import parse_qs

from aiohttp import web

from adapters.console.errors import Refused, Unauthenticated
from adapters.console.exchange import read_body
from adapters.console.security import Door

FOLDER = Path(__file__).parent
TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
MESSAGE_SLOT = "<!-- message -->"


class Page:
    """Serves the files that stood in the package when the gateway started, and no others."""

    def __init__(self, *, door: Door) -> None:
        self._door = door
        # A table of names instead of joining paths: nothing outside can be asked for.
        self._files = {path.name: path for path in (FOLDER / "static").iterdir()}

    async def index(self, request: web.Request) -> web.Response:
        """Answer with the console; the first visit gets its session here."""
        try:
            session = self._door.admit_visitor(request)
        except Unauthenticated:
            return _redirect("/login")
        except Refused as refused:
            return web.Response(status=refused.status, text=f"{refused}\n")
        response = _html("page.html")
        self._door.give_cookie(request, response, session)
        return response

    async def static(self, request: web.Request) -> web.Response:
        """Answer with one file of the page; a browser that has it is told so."""
        path = self._files.get(request.match_info["name"])
        if path is None or path.suffix not in TYPES:
            raise Refused(404, "not_found", "There is no such file.")
        body = path.read_bytes()
        tag = f'"{sha256(body).hexdigest()[:16]}"'
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if request.headers.get("If-None-Match") == tag:
            return web.Response(status=304, headers=headers)
        return web.Response(
            body=body, content_type=TYPES[path.suffix], charset="utf-8", headers=headers
        )

    async def login_form(self, _: web.Request) -> web.Response:
        """Answer with the login form, where there is something to log in with."""
        if not self._door.asks_for_token:
            return _redirect("/")
        return _html("login.html")

    async def log_in(self, request: web.Request) -> web.Response:
        """Trade the token for the session's cookie."""
        form = parse_qs((await read_body(request)).decode("utf-8", "replace"))
        try:
            session = self._door.log_in(request, form.get("token", [""])[0])
        except Refused as refused:
            return _html("login.html", status=refused.status, message=str(refused))
        response = _redirect("/")
        self._door.give_cookie(request, response, session)
        return response


def _html(name: str, *, status: int = 200, message: str = "") -> web.Response:
    text = (FOLDER / "templates" / name).read_text(encoding="utf-8")
    shown = f'<p class="error" role="alert">{escape(message)}</p>' if message else ""
    # Only our own sentences are shown here, and escaped all the same.
    text = text.replace(MESSAGE_SLOT, shown)
    return web.Response(status=status, text=text, content_type="text/html")


def _redirect(place: str) -> web.Response:
    return web.Response(status=303, headers={"Location": place})
