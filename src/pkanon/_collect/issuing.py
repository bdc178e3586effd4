"""The issuer on the web: POST /claim, by itself or inside the service.

    POST /claim  {"survey": digest, "code": base64url of 16 bytes, "blinded": base64url}  ->  {"signature": base64url}
    GET /claims  {"invitations": number made, "used": number used}

Errors have the shape of the service: {"error": {"code", "message", "retry"}}. Signing takes some milliseconds during which
Python does nothing else, so processes of their own do it; if one ends, others take its place. Any page may ask: there are no
cookies, and the code is the secret.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from typing import Any

from .. import _files
from .._errors import EnvironmentFailure, PkanonError
from .invitations import CODE_BYTES, ClaimRefusedError, Issuer
from .limits import BODY_PATIENCE, PER_MINUTE, RateLimit, visitor
from .survey import Survey
from .tokens import PrivateKey, TokenError, from_text, to_text

LARGEST_BODY = 16_384
RETRY_BUSY = 2
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
_HEADERS = [
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"access-control-allow-origin", b"*"),
    (b"connection", b"close"),  # so that the answer comes on another connection; a proxy does not pass it on
]
_PREFLIGHT = [
    (b"access-control-allow-methods", b"GET, POST"),
    (b"access-control-allow-headers", b"content-type"),
    (b"access-control-max-age", b"600"),
]

log = logging.getLogger("pkanon.collect")
_key: PrivateKey | None = None


def _load(pem: bytes) -> None:
    global _key
    _key = PrivateKey.from_pem(pem)
    threading.Thread(target=_end_with_the_service, daemon=True).start()


def _end_with_the_service() -> None:
    """A service that was killed cannot stop its processes; the key must not outlive it in one of them."""
    service = parent_process()
    if service is not None:
        service.join()
    os._exit(1)


def _sign(request: bytes) -> bytes:
    assert _key is not None
    return _key.sign_blinded(request)


class Claims:
    """An ASGI application that redeems the invitations of one survey, by itself or inside another one.

    Parameters
    ----------
    issuer
        The issuer.
    survey
        Its survey.
    processes
        How many processes sign at the same time; with 0 the server's own does, for tests and small surveys.
    per_minute
        Claims a minute from one address; None for no limit.
    behind_proxy
        A proxy stands in front that adds X-Forwarded-For.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pkanon as pk
    >>> text = '''
    ... [survey]
    ... title = "Smoking at work"
    ... organiser = "Institute of Health"
    ... contact = "survey@example.org"
    ... [attributes.smokes]
    ... values = ["no", "yes"]
    ... question = "Do you smoke?"
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "survey.toml").write_text(text)
    ...     key = pk.collect.new_issuer(Path(folder, "survey.issuer"))
    ...     survey = pk.collect.new(Path(folder, "survey.toml"), records=500, k=20, invitation_key=key)
    ...     issuer = pk.collect.Issuer(Path(folder, "survey.issuer"), survey)
    ...     codes = issuer.invite(500)
    ...     application = pk.collect.Claims(issuer, survey, processes=0)  # for an ASGI server
    ...     issuer.counts
    (500, 0)
    """

    def __init__(
        self,
        issuer: Issuer,
        survey: Survey,
        *,
        processes: int = 1,
        per_minute: int | None = PER_MINUTE,
        behind_proxy: bool = False,
    ) -> None:
        self._issuer, self._survey, self._processes = issuer, survey, processes
        self._limit, self._behind_proxy = RateLimit(per_minute), behind_proxy
        self._pem = b"" if issuer.closed else issuer.key_file.read_bytes()
        self._pool: Executor | None = self._new_pool() if self._pem and processes else None
        self._sign = PrivateKey.from_pem(self._pem).sign_blinded if self._pem else None

    def _new_pool(self) -> Executor:
        return ProcessPoolExecutor(
            self._processes, mp_context=get_context("spawn"), initializer=_load, initargs=(self._pem,)
        )

    def close(self) -> None:
        """Stop the processes."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    async def answer(self, body: bytes) -> tuple[int, dict[str, Any]]:
        """The status and the JSON that a claim gets; ``body`` is the request's."""
        try:
            return 200, {"signature": to_text(await self._claim(body))}
        except ClaimRefusedError as error:
            return error.status, _error(error.code, str(error))
        except PkanonError:
            return 503, _error("busy", "The issuer cannot answer now; try again later.", retry=True)
        except Exception as error:  # its message may quote what was sent
            log.error("A bug: %s while an invitation was redeemed", type(error).__name__)
            return 500, _error("failed", "The issuer failed; try again later.", retry=True)

    async def _claim(self, body: bytes) -> bytes:
        code, request = self._read(body)
        await asyncio.to_thread(self._issuer.admit, code, request)
        if self._sign is None:
            raise ClaimRefusedError("closed", 410, "Invitations have ended.")
        pool = self._pool
        try:
            if pool is None:
                return await asyncio.to_thread(self._sign, request)
            return await asyncio.get_running_loop().run_in_executor(pool, _sign, request)
        except TokenError as error:
            raise ClaimRefusedError("malformed", 400, str(error)) from None
        except BrokenExecutor:
            self._replace(pool)
            raise EnvironmentFailure("A process that signs has ended.") from None

    def _replace(self, broken: Executor | None) -> None:
        """New processes in the place of those that ended; once, however many claims they fail."""
        if broken is not None and broken is self._pool:
            broken.shutdown(wait=False)
            self._pool = self._new_pool()

    def _read(self, body: bytes) -> tuple[bytes, bytes]:
        if len(body) > LARGEST_BODY:
            raise ClaimRefusedError("too_large", 413, f"A claim has at most {LARGEST_BODY:,} bytes.")
        try:
            data = _files.parse_json(body.decode())
        except ValueError:
            data = None
        if not isinstance(data, dict) or set(data) != {"survey", "code", "blinded"}:
            raise ClaimRefusedError("malformed", 400, "A claim is a JSON object with survey, code and blinded.")
        if data["survey"] != self._survey.digest:
            raise ClaimRefusedError("other_survey", 422, "The claim is for another survey, or another version of it.")
        try:
            return from_text(data["code"], CODE_BYTES), from_text(data["blinded"])
        except TokenError as error:
            raise ClaimRefusedError("malformed", 400, str(error)) from None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """One request, as ASGI has it."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        if scope["type"] != "http":
            return
        status, data = await self._respond(scope, receive)
        headers = _HEADERS + (_PREFLIGHT if status == 204 else [])
        if status in (429, 503):
            headers = [*headers, (b"retry-after", str(data.pop("wait", RETRY_BUSY)).encode())]
        content = b"" if status == 204 else json.dumps(data).encode()
        headers = [*headers, (b"content-length", str(len(content)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    async def _respond(self, scope: Message, receive: Receive) -> tuple[int, dict[str, Any]]:
        method, path = scope["method"], scope["path"]
        if path == "/claims" and method == "GET":
            made, used = await asyncio.to_thread(lambda: self._issuer.counts)
            return 200, {"invitations": made, "used": used}
        if path != "/claim":
            return 404, _error("not_found", "There is nothing here; see /claims.")
        if method == "OPTIONS":
            return 204, {}
        if method != "POST":
            return 405, _error("method", "A claim is sent with POST.")
        types = [value for name, value in scope["headers"] if name.lower() == b"content-type"]
        if [value.partition(b";")[0].strip().lower() for value in types] != [b"application/json"]:
            return 415, _error("media_type", "A claim has the content type application/json.")
        if wait := self._limit.wait(visitor(scope, behind_proxy=self._behind_proxy)):
            refused = _error("too_many", "Too many claims came from this address; try again later.", retry=True)
            return 429, {**refused, "wait": wait}
        try:
            async with asyncio.timeout(BODY_PATIENCE):
                body = await _body(receive)
        except TimeoutError:
            return 408, _error("slow", "The body took too long to arrive.", retry=True)
        if body is None:
            return 400, _error("malformed", "The request ended early.")
        return await self.answer(body)  # which refuses one that is too large

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            else:
                self.close()
                await send({"type": "lifespan.shutdown.complete"})
                return


async def _body(receive: Receive) -> bytes | None:
    """The body of a request, or as much of it as shows that it is too large; None if it ended early."""
    body = b""
    while len(body) <= LARGEST_BODY:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    return body


def _error(code: str, message: str, *, retry: bool = False) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "retry": retry}}
