"""Running the service: one process, one worker, no access log."""

from __future__ import annotations

import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .._errors import EnvironmentFailure, InputError, RefusedError, missing_package
from .admin import AdminToken
from .invitations import Issuer
from .issuing import Claims
from .limits import MOST_CONNECTIONS, PER_MINUTE
from .store import BEGUN, open_store
from .survey import SIMULATED, Survey

KEPT_SECONDS = 5
"""How long an idle connection is kept: less than the page waits before it sends an invited answer (APART in page.js)."""


def app(
    survey: Survey,
    database: str,
    *,
    admin_token: str | None = None,
    behind_proxy: bool = False,
    per_minute: int | None = PER_MINUTE,
    accept: Sequence[str] = (),
    issuer: Issuer | None = None,
    warn: Callable[[str], None] | None = None,
) -> Any:
    """The ASGI application of a survey, for any server with one process and one worker.

    Parameters
    ----------
    survey
        The survey.
    database
        Where the answers are kept: ``sqlite:///answers.db`` or ``postgresql://user@host/name``.
    admin_token
        Whoever has it can pause, resume and close the survey; None for nobody.
    behind_proxy
        A proxy stands in front that adds X-Forwarded-For and speaks TLS.
    per_minute
        Answers a minute from one address, and as many claims; None for no limit.
    accept
        PostgreSQL settings that give the order or the times of answers away, and are meant.
    issuer
        Redeem invitations here too; refused in a strict survey, where that must happen elsewhere.
    warn
        Called with what the operator should know about the database, a sentence at a time.

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
    ...     survey = pk.collect.new(Path(folder, "survey.toml"), records=500, k=20)
    >>> pk.collect.app(survey, "answers.db")
    Traceback (most recent call last):
        ...
    pkanon._errors.InputError: The database is named like sqlite:///answers.db, or postgresql://user@host/name; there is no other kind.
    """
    if survey.mode == SIMULATED:
        raise RefusedError(
            "The survey belongs to a pilot, whose answers are simulated; serve the survey that was tried."
        )
    return any_app(
        survey, database, admin_token=admin_token, behind_proxy=behind_proxy, per_minute=per_minute, accept=accept,
        issuer=issuer, warn=warn,
    )  # fmt: skip


def any_app(
    survey: Survey,
    database: str,
    *,
    admin_token: str | None = None,
    behind_proxy: bool = False,
    per_minute: int | None = PER_MINUTE,
    accept: Sequence[str] = (),
    issuer: Issuer | None = None,
    warn: Callable[[str], None] | None = None,
) -> Any:
    """:func:`app`, for the survey of a pilot too."""
    try:
        from .service import application
    except ImportError:
        raise missing_package("The service needs the packages starlette and uvicorn", "collect") from None
    if issuer is not None and survey.strict:
        raise RefusedError(
            "The survey is strict: invitations are redeemed by other people or at another time, with pkanon collect issue; leave "
            "out the issuer."
        )
    store = open_store(database, survey.plan, survey.digest, expected=survey.expected, accept=accept)
    if warn is not None:
        for warning in store.warnings:
            warn(warning)
    try:
        if store.contents().begun:
            raise RefusedError(BEGUN)
        return application(
            survey,
            store,
            admin=None if admin_token is None else AdminToken.of(admin_token),
            per_minute=per_minute or None,
            behind_proxy=behind_proxy,
            hsts=behind_proxy,
            claims=None
            if issuer is None
            else Claims(issuer, survey, per_minute=per_minute or None, behind_proxy=behind_proxy),
        )
    except BaseException:
        store.close()
        raise


def make_server(app: Any) -> Any:
    """A uvicorn server for an application: one process, one worker, nothing logged per request."""
    try:
        import uvicorn

        from .protocol import PromptProtocol
    except ImportError:
        raise missing_package("The service needs the packages starlette and uvicorn", "collect") from None
    config = uvicorn.Config(
        app,
        http=PromptProtocol,
        limit_concurrency=MOST_CONNECTIONS,
        access_log=False,  # a line per request would be a time stamp for every answer
        log_config=None,
        proxy_headers=False,  # the service reads what it needs itself, and only if it is told so
        server_header=False,
        timeout_keep_alive=KEPT_SECONDS,
        timeout_graceful_shutdown=10,
        lifespan="on",
        ws="none",
        h11_max_incomplete_event_size=65_536,
    )
    return uvicorn.Server(config)


def serve(make: Callable[[], Any], host: str, port: int, *, ready: Callable[[str], None] = lambda url: None) -> None:
    """Run the application that ``make`` makes until the process is asked to end; ``ready`` gets the address once it listens.

    The application is made after the port is ours: where it is not, no database is made either.
    """
    with listen(host, port) as listener:
        server = make_server(make())
        quiet_logging()
        with _ending_well():
            name, bound = listener.getsockname()[:2]
            ready(f"http://{f'[{name}]' if ':' in name else name}:{bound}")
            server.run(sockets=[listener])


@contextmanager
def _ending_well() -> Iterator[None]:
    """The server stores what has arrived and ends when it is asked to; then it sends the signal once more, which is enough."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def quiet_logging() -> None:
    """Errors only, without times: neither requests nor addresses are logged."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    for name, level in (
        ("uvicorn", logging.CRITICAL),
        ("asyncio", logging.CRITICAL),
        ("pkanon.collect", logging.WARNING),
    ):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens, at any free port if it is 0.

    It is opened as a TCP socket by name. Else Python does not know that its connections are TCP, and lets the kernel hold back
    the second part of every response until the first one is confirmed, for up to 40 ms.
    """
    if not 0 <= port <= 65_535:
        raise InputError(f"There is no port {port}; choose one from 1 to 65535, or 0 for any that is free.")
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, port), family=family, backlog=2048)
        return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=listener.detach())
    except OSError as error:
        reason = error.strerror or "the address cannot be used"
        raise EnvironmentFailure(
            f"Cannot listen on {host}:{port}: {reason}; choose another --host or --port."
        ) from None
