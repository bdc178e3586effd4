"""A running service, asked from outside: how it stands, and the operator's commands."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlsplit

from .._errors import EnvironmentFailure, InputError, RefusedError

_TIMEOUT = 30
_LOCAL = ("localhost", "127.0.0.1", "::1")


def remote_status(url: str) -> dict[str, Any]:
    """How the survey at an address stands."""
    return _ask(urllib.request.Request(f"{_base(url)}/status"))


def set_remote_state(url: str, state: str, token: str) -> dict[str, Any]:
    """Open, pause or close the survey at an address; how it stands then."""
    base = _base(url)
    parts = urlsplit(base)
    if parts.scheme == "http" and parts.hostname not in _LOCAL:
        raise RefusedError(
            f"The admin token would be sent to {base} in the clear; use https, or an address of this machine."
        )
    request = urllib.request.Request(
        f"{base}/admin/state",
        data=json.dumps({"state": state}).encode(),
        headers={"Content-Type": "application/json", "Authorization": f"Bearer {token}"},
        method="POST",
    )
    return _ask(request)


def _base(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise InputError("The address of a survey is like https://survey.example.org, without anything behind it.")
    return url.rstrip("/")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is refused: it could take the token elsewhere."""

    def redirect_request(self, *arguments: Any) -> None:
        return None


def _ask(request: urllib.request.Request) -> dict[str, Any]:
    opener = urllib.request.build_opener(_NoRedirect)
    try:
        with opener.open(request, timeout=_TIMEOUT) as response:
            data = json.loads(response.read(1_000_000))
    except urllib.error.HTTPError as error:
        message = "it answered with an error"
        try:
            message = json.loads(error.read(100_000))["error"]["message"]
        except (ValueError, LookupError, TypeError, OSError):
            pass
        finally:
            error.close()
        raise InputError(f"The service refused: {message}") from None
    except (OSError, ValueError):
        raise EnvironmentFailure(f"The service at {request.full_url.rpartition('/')[0]} cannot be reached.") from None
    if not isinstance(data, dict):
        raise EnvironmentFailure(f"There is no survey at {request.full_url.rpartition('/')[0]}.")
    return data
