"""A running service, asked from outside: how it stands, and the operator's commands."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from .._errors import EnvironmentFailure, InputError, RefusedError

_TIMEOUT = 30
_KEYS = {
    "state",
    "accepted",
    "in_batches",
    "expected",
    "k",
    "k_planned",
    "k_if_known",
    "below_chance",
    "forged_row",
    "refused",
}
"""What a status that is shown holds."""
_LOCAL = ("localhost", "127.0.0.1", "::1")


def remote_status(url: str) -> dict[str, Any]:
    """How the survey at an address stands."""
    base = _base(url)
    return _ask(base, urllib.request.Request(f"{base}/status"))


def set_remote_state(
    url: str, state: str, token: str, check: Callable[[dict[str, Any]], None] | None = None
) -> dict[str, Any]:
    """Open, pause or close the survey at an address; how it stands then. ``check`` sees how it stands before, and may refuse."""
    base = _base(url)
    parts = urlsplit(base)
    if parts.scheme == "http" and parts.hostname not in _LOCAL:
        raise RefusedError(
            f"The admin token would be sent to {base} in the clear; use https, or an address of this machine."
        )
    if check is not None:
        check(remote_status(base))
    request = urllib.request.Request(
        f"{base}/admin/state",
        data=json.dumps({"state": state}).encode(),
        headers={"Content-Type": "application/json", "Authorization": f"Bearer {token}"},
        method="POST",
    )
    return _ask(base, request)


def _base(url: str) -> str:
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # a port that is no number, or brackets around no address
        fits = False
    if not fits or parts.query or parts.fragment:
        raise InputError("The address of a survey is like https://survey.example.org, without anything behind it.")
    return url.rstrip("/")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is refused: it could take the token elsewhere."""

    def redirect_request(self, *arguments: Any) -> None:
        return None


def _ask(base: str, request: urllib.request.Request) -> dict[str, Any]:
    opener = urllib.request.build_opener(_NoRedirect)
    try:
        with opener.open(request, timeout=_TIMEOUT) as response:
            content = response.read(1_000_000)
    except urllib.error.HTTPError as error:
        message = "it answered with an error"
        try:
            message = json.loads(error.read(100_000))["error"]["message"]
        except (ValueError, LookupError, TypeError, OSError):
            pass
        finally:
            error.close()
        raise InputError(f"The service refused: {message}") from None
    except (OSError, http.client.HTTPException):
        raise EnvironmentFailure(f"The service at {base} cannot be reached.") from None
    try:
        data = json.loads(content)
    except ValueError:
        data = None
    if not isinstance(data, dict) or not set(data) >= _KEYS:
        raise InputError(f"There is no survey at {base}, or one of another version of pkanon.")
    return data
