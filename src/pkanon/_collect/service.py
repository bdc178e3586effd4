"""The service of one survey: an ASGI application, to be run in one process.

It serves the files of the survey folder, takes answers, and says how the survey stands. Nothing that arrives is written down but
the record and its key: no log line per request, no address, no time. The state is in the store, so a restart changes nothing.
Files, ``/status`` and ``/answers`` may be asked for by pages of other origins: the page also works when it is opened from a disk.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from html import unescape
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .._errors import InputError
from .admin import AdminToken
from .answer import MOST_BYTES, Reader, Refusal, read_object
from .commit import GroupCommit, Outcome
from .issuing import Claims
from .limits import BODY_PATIENCE, PER_MINUTE, RateLimit, forwarded_address, visitor
from .openapi import document
from .standing import forged_row_moves, status_of
from .store import Layout, Store
from .survey import Survey
from .tally import results

ADMIN_PER_MINUTE = 20
"""Wrong admin tokens a minute from one address."""
RETRY_BUSY, RETRY_PAUSED = 2, 60
FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/plan.json": ("plan.json", "application/json"),
    "/survey.json": ("survey.json", "application/json"),
    "/manifest.json": ("manifest.json", "application/json"),
    "/pkanon.js": ("pkanon.js", "text/javascript; charset=utf-8"),
}
HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}
"""On every response; the page has a content security policy of its own."""
HSTS = {"strict-transport-security": "max-age=31536000"}
CORS = {"access-control-allow-origin": "*"}
PREFLIGHT = {
    **CORS,
    "access-control-allow-methods": "POST",
    "access-control-allow-headers": "content-type",
    "access-control-max-age": "86400",
}
STORED = Response(b'{"stored":true}', media_type="application/json", headers=CORS)

Handler = Callable[[Request], Awaitable[Response]]
log = logging.getLogger("pkanon.collect")


class _Endpoint:
    """A handler that raises nothing, as an ASGI application: Starlette need not stand guard around it once more."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._handler(Request(scope, receive, send))
        await response(scope, receive, send)


class Service:
    """What the routes of one survey do."""

    def __init__(
        self,
        survey: Survey,
        store: Store,
        *,
        admin: AdminToken | None = None,
        per_minute: int | None = PER_MINUTE,
        behind_proxy: bool = False,
        claims: Claims | None = None,
    ) -> None:
        self._claims = claims
        self._survey, self._plan, self._store = survey, survey.plan, store
        self._admin, self._behind_proxy = admin, behind_proxy
        key = survey.public_key
        self._reader = Reader(survey.plan, survey.digest, None if key is None else key.verify)
        self._limit, self._admin_limit = RateLimit(per_minute), RateLimit(ADMIN_PER_MINUTE)
        self._refused: Counter[str] = Counter()
        self._forged = forged_row_moves(survey.plan)
        self._policy = page_policy(survey.files["index.html"])
        self._document = document(survey.plan, survey.digest, invited=key is not None, admin=admin is not None)
        self._results: tuple[bytes, dict[str, Any]] | None = None
        self._computing = asyncio.Lock()
        self._warned = False

    @asynccontextmanager
    async def lifespan(self, app: object) -> AsyncIterator[None]:
        """Take answers from the start to the end of the server."""
        self._commit = GroupCommit(self._store, Layout.of(self._plan), every=self._survey.results_every)
        self._commit.start()
        try:
            yield
        finally:
            await self._commit.stop()
            if self._claims is not None:
                self._claims.close()

    def routes(self) -> list[Route]:
        """All routes."""
        routes = [
            Route("/answers", self._guarded(self.answers, CORS), methods=["POST"]),  # first: most requests are answers
            Route("/answers", self._guarded(self.preflight), methods=["OPTIONS"]),
            *(Route(path, self._guarded(self._file(path), CORS), methods=["GET"]) for path in FILES),
            Route("/status", self._guarded(self.status, CORS), methods=["GET"]),
            Route("/results", self._guarded(self.results), methods=["GET"]),
            Route("/openapi.json", self._guarded(self.openapi), methods=["GET"]),
        ]
        if self._admin is not None:
            routes.append(Route("/admin/state", self._guarded(self.set_state), methods=["POST"]))
        if self._claims is not None:
            routes += [Route(path, self._claims) for path in ("/claim", "/claims")]
        return routes

    async def answers(self, request: Request) -> Response:
        """POST /answers."""
        self._refuse_closed()
        if wait := self._limit.wait(self._address(request)):
            raise Refusal("too_many", "Too many answers came from this address; try again later.", wait=wait)
        answer = self._reader.read(await _body(request))
        self._refuse_closed()  # it may have been closed meanwhile
        if self._commit.state == "paused":
            raise Refusal("paused", "The survey is paused; try again later.", wait=RETRY_PAUSED)
        outcome = await self._commit.put(answer.key, answer.record)
        if outcome is Outcome.CONFLICT:
            raise Refusal("conflict", "Another answer was sent with the same key; the first one counts.")
        if outcome is Outcome.BUSY:
            raise Refusal("busy", "The service is busy; try again in a moment.", wait=RETRY_BUSY)
        return STORED

    def _refuse_closed(self) -> None:
        if self._commit.state not in ("open", "paused"):
            raise Refusal("closed", "The survey is closed; no more answers are taken.")

    async def preflight(self, request: Request) -> Response:
        """OPTIONS /answers, for a page of another origin."""
        return Response(status_code=204, headers=PREFLIGHT)

    async def status(self, request: Request) -> Response:
        """GET /status."""
        response = _json(self._status())
        response.headers.update(CORS)
        return response

    def _status(self) -> dict[str, Any]:
        return status_of(
            self._survey,
            "failed" if self._commit.failed else self._commit.state,
            accepted=self._commit.accepted,
            in_batches=self._commit.released,
            forged=self._forged,
            refused=self._refused,
        )

    async def results(self, request: Request) -> Response:
        """GET /results."""
        async with self._computing:
            snapshot = self._commit.snapshot
            if self._results is None or self._results[0] != snapshot:
                self._results = snapshot, await asyncio.to_thread(results, self._plan, snapshot)
            return _json(self._results[1])

    async def openapi(self, request: Request) -> Response:
        """GET /openapi.json."""
        return _json(self._document)

    async def set_state(self, request: Request) -> Response:
        """POST /admin/state."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or self._admin is None or not self._admin.fits(token.strip()):
            if wait := self._admin_limit.wait(
                self._address(request)
            ):  # the right token is never kept waiting by wrong ones
                raise Refusal("too_many", "Too many requests came from this address; try again later.", wait=wait)
            raise Refusal("unauthorised", "This needs the admin token of the survey.")
        wanted = read_object(await _body(request), {"state"})["state"]
        if wanted not in ("open", "paused", "closed"):
            raise Refusal("malformed", "The state must be open, paused or closed.")
        state = self._commit.state
        if state in ("closed", "released") and wanted != "closed":
            raise Refusal("conflict", "The survey is closed for ever: its submission keys are erased.")
        if wanted != state and state != "released":
            try:
                await self._commit.set_state(wanted)
            except Exception:
                self._commit.state = state
                raise
        return _json(self._status())

    def _file(self, path: str) -> Handler:
        name, media = FILES[path]
        content = self._survey.files[name]
        headers = CORS | ({"content-security-policy": self._policy} if path == "/" else {})

        async def respond(request: Request) -> Response:
            return Response(content, media_type=media, headers=headers)

        return respond

    def _address(self, request: Request) -> str:
        if not self._behind_proxy and not self._warned and forwarded_address(request.scope["headers"]):
            self._warned = True
            log.warning("A proxy stands in front, so all visitors count as one address: start with --behind-proxy.")
        return visitor(request.scope, behind_proxy=self._behind_proxy)

    def _guarded(self, handler: Handler, headers: Mapping[str, str] | None = None) -> _Endpoint:
        """A handler whose refusals have one shape and these headers, are counted, and say nothing about what was sent."""

        async def respond(request: Request) -> Response:
            try:
                return await handler(request)
            except Refusal as refusal:
                response = self._refuse(refusal)
            except ClientDisconnect:
                response = self._refuse(Refusal("malformed", "The connection ended before the body."))
            except Exception as error:
                # The message of a foreign exception may quote what was sent, so only the place is logged.
                place = traceback.extract_tb(error.__traceback__)[-1]
                log.error("A bug: %s at %s:%s", type(error).__name__, os.path.basename(place.filename), place.lineno)
                response = self._refuse(Refusal("failed", "The service failed; try again later.", wait=RETRY_BUSY))
            response.headers.update(headers or {})
            return response

        return _Endpoint(respond)

    def _refuse(self, refusal: Refusal) -> Response:
        self._refused[refusal.code] += 1
        response = _json(refusal.to_json(), refusal.status)
        if refusal.wait is not None:
            response.headers["retry-after"] = str(refusal.wait)
        if refusal.code == "unauthorised":
            response.headers["www-authenticate"] = "Bearer"
        return response

    async def unrouted(self, request: Request, error: Exception) -> Response:
        """What no route serves."""
        assert isinstance(error, HTTPException)
        if error.status_code == 405:
            response = self._refuse(Refusal("method", "This address does not take that method."))
        else:
            response = self._refuse(Refusal("not_found", "There is nothing at this address."))
        response.headers.update(error.headers or {})
        return response


def application(survey: Survey, store: Store, *, hsts: bool = False, **options: Any) -> Starlette:
    """The ASGI application of a survey; ``options`` are those of :class:`Service`."""
    service = Service(survey, store, **options)
    app = Starlette(
        routes=service.routes(), lifespan=service.lifespan, exception_handlers={HTTPException: service.unrouted}
    )
    app.router.redirect_slashes = False
    app.add_middleware(_Headers, headers=HEADERS | (HSTS if hsts else {}))
    return app


class _Headers:
    """Adds headers to every response that has none of that name."""

    def __init__(self, app: ASGIApp, headers: Mapping[str, str]) -> None:
        self._app = app
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_all(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(h for h in self._headers if h[0] not in present)]
            await send(message)

        await self._app(scope, receive, send_all)


async def _body(request: Request) -> bytes:
    """The JSON body of a request, of limited size and in limited time."""
    headers = dict(request.scope["headers"])
    media, _, parameters = headers.get(b"content-type", b"").partition(b";")
    charset = parameters.replace(b" ", b"").lower()
    if media.strip().lower() != b"application/json" or charset not in (b"", b"charset=utf-8", b'charset="utf-8"'):
        raise Refusal("media_type", "The body must be application/json, in UTF-8.")
    if headers.get(b"content-encoding", b"identity").lower() != b"identity":
        raise Refusal("media_type", "The body must not be compressed.")
    length = headers.get(b"content-length", b"")
    if length.isdigit() and int(length[:12]) > MOST_BYTES:
        raise Refusal("too_large", f"The body must not exceed {MOST_BYTES:,} bytes.")
    parts, size = [], 0
    try:
        async with asyncio.timeout(BODY_PATIENCE):
            async for part in request.stream():
                size += len(part)
                if size > MOST_BYTES:
                    raise Refusal("too_large", f"The body must not exceed {MOST_BYTES:,} bytes.")
                parts.append(part)
    except TimeoutError:
        raise Refusal("slow", "The body took too long to arrive.") from None
    return b"".join(parts)


def page_policy(page: bytes) -> str:
    """The content security policy in a page's own meta element, and what only a header can say."""
    found = re.search(
        rb"""<meta\s+http-equiv=["']?content-security-policy["']?\s+content="([^"]*)\"""", page, re.IGNORECASE
    )
    if found is None:
        raise InputError("The page of the survey has no content security policy; make the survey again.")
    return f"{unescape(found[1].decode()).strip().rstrip(';')}; frame-ancestors 'none'"


def _json(data: Mapping[str, Any], status: int = 200) -> Response:
    return Response(
        json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode(), status, media_type="application/json"
    )
