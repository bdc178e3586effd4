"""Requests as an ordinary visitor makes them: no cookies, no redirects, a limit on what is read."""

from __future__ import annotations

import http.client
import random
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass

from .._errors import EnvironmentFailure, InputError
from .._files import parse_json

LARGEST_FILE = 64 * 2**20
SECONDS = 30
LONGEST_WAIT = 60.0
_AGENT = {"User-Agent": "pkanon"}


class _Stay(urllib.request.HTTPRedirectHandler):
    """A redirect is refused: it could show one visitor another page."""

    def redirect_request(self, *arguments: object) -> None:
        return None


def base_address(url: str) -> str:
    """The address of a survey without what follows it; refused unless it begins with http:// or https://."""
    if not url.startswith(("http://", "https://")):
        raise InputError("The address of a survey begins with https://, or on this machine with http://.")
    return url.partition("#")[0].rstrip("/")


def _open(request: urllib.request.Request) -> tuple[int, bytes, float | None]:
    opener = urllib.request.build_opener(_Stay)
    try:
        with opener.open(request, timeout=SECONDS) as response:
            return response.status, response.read(LARGEST_FILE + 1), None
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(LARGEST_FILE + 1), _seconds(error.headers.get("Retry-After"))


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isascii() and text.isdecimal() else None


def get(url: str) -> bytes:
    """The bytes at an address."""
    try:
        status, content, _ = _open(urllib.request.Request(url, headers=_AGENT))
    except (OSError, http.client.HTTPException):
        raise EnvironmentFailure(f"{url} cannot be reached.") from None
    except ValueError:
        raise InputError(f"{url} is not a web address.") from None
    if status != 200:
        raise InputError(f"{url} answers with the status {status}; is it the address of a survey?")
    if len(content) > LARGEST_FILE:
        raise InputError(f"{url} is larger than any file of a survey.")
    return content


def _holds(content: bytes, entry: str) -> bool:
    try:
        data = parse_json(content.decode())
    except ValueError:
        return False
    return isinstance(data, dict) and bool(data.get(entry))


@dataclass(frozen=True)
class Reply:
    """What the other side answered."""

    status: int
    content: bytes


def post_until_answered(
    url: str,
    body: bytes,
    *,
    expected: str,
    patience: float,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Reply | None:
    """Send the same bytes until there is a final answer; None if there was none within ``patience`` seconds.

    A reply that says yes counts only if it is JSON with the entry ``expected``: a login page of some network is no
    acknowledgement. Tried again: that, a connection that fails, 408, 429 and 5xx. The pauses grow, are no shorter than
    Retry-After, and differ at random, so that many devices do not come back at the same moment.
    """
    end, pause = clock() + patience, 0.5
    while True:
        wait: float | None = None
        request = urllib.request.Request(url, body, {**_AGENT, "Content-Type": "application/json"}, method="POST")
        try:
            status, content, wait = _open(request)
            if status not in (408, 429) and status < 500 and (status >= 300 or _holds(content, expected)):
                return Reply(status, content)
        except (OSError, http.client.HTTPException):
            pass
        except ValueError:
            raise InputError(f"{url} is not a web address.") from None
        delay = max(wait or 0.0, random.uniform(0.5, 1.0) * pause)
        if clock() + delay > end:
            return None
        sleep(delay)
        pause = min(2 * pause, LONGEST_WAIT)
