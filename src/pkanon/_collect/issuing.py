"""The issuer on the web: POST /claim, by itself or inside the service.

    POST /claim  {"survey": digest, "code": base64url of 16 bytes, "blinded": base64url}  ->  {"signature": base64url}
    GET /claims  {"invitations": number made, "used": number used}

Errors have the shape of the service: {"error": {"code", "message", "retry"}}. Signing takes some milliseconds during which
Python does nothing else, so processes of their own do it. Any page may ask: there are no cookies, and the code is the
secret.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from .. import _files
from .._errors import PkanonError
from .invitations import CODE_BYTES, ClaimRefusedError, Issuer
from .survey import Survey
from .tokens import PrivateKey, TokenError, from_text, to_text

LARGEST_BODY = 16_384
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

_key: PrivateKey | None = None


def _load(pem: bytes) -> None:
    global _key
    _key = PrivateKey.from_pem(pem)


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

    def __init__(self, issuer: Issuer, survey: Survey, *, processes: int = 1) -> None:
        self._issuer, self._survey = issuer, survey
        self._pool: Executor | None = None
        pem = b"" if issuer.closed else issuer.key_file.read_bytes()
        if pem and processes:
            self._pool = ProcessPoolExecutor(
                processes, mp_context=get_context("spawn"), initializer=_load, initargs=(pem,)
            )
        self._sign = PrivateKey.from_pem(pem).sign_blinded if pem else None

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

    async def _claim(self, body: bytes) -> bytes:
        code, request = self._read(body)
        await asyncio.to_thread(self._issuer.admit, code, request)
        if self._sign is None:
            raise ClaimRefusedError("closed", 410, "Invitations have ended.")
        try:
            if self._pool is None:
                return await asyncio.to_thread(self._sign, request)
            return await asyncio.get_running_loop().run_in_executor(self._pool, _sign, request)
        except TokenError as error:
            raise ClaimRefusedError("malformed", 400, str(error)) from None

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
        content = b"" if status == 204 else json.dumps(data).encode()
        headers = _HEADERS + (_PREFLIGHT if status == 204 else [])
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
        body = b""
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return 400, _error("malformed", "The request ended early.")
            body += message.get("body", b"")
            if len(body) > LARGEST_BODY:
                return 413, _error("too_large", f"A claim has at most {LARGEST_BODY:,} bytes.")
            if not message.get("more_body"):
                return await self.answer(body)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            else:
                self.close()
                await send({"type": "lifespan.shutdown.complete"})
                return


def _error(code: str, message: str, *, retry: bool = False) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "retry": retry}}
