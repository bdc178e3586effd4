"""Running the service: one process, one worker, no access log."""

from __future__ import annotations

import logging
import socket
import sys
from collections.abc import Callable, Sequence
from typing import Any

from .._errors import EnvironmentFailure, InputError, missing_package
from .admin import AdminToken
from .store import open_store
from .survey import Survey


def app(
    survey: Survey,
    database: str,
    *,
    admin_token: str | None = None,
    behind_proxy: bool = False,
    per_minute: int | None = 120,
    accept: Sequence[str] = (),
    warn: Callable[[str], None] = lambda line: None,
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
        Answers a minute from one address; None for no limit.
    accept
        PostgreSQL settings that give the order or the times of answers away, and are meant.
    warn
        Called with what the operator should know about the database, a sentence at a time.

    Examples
    --------
    >>> import pkanon as pk
    >>> survey = pk.collect.Survey.read("survey")  # doctest: +SKIP
    >>> application = pk.collect.app(survey, "sqlite:///answers.db")  # doctest: +SKIP
    """
    try:
        from .service import application
    except ImportError:
        raise missing_package("The service needs the packages starlette and uvicorn", "collect") from None
    store = open_store(database, survey.plan, survey.digest, expected=survey.expected, accept=accept)
    for warning in store.warnings:
        warn(warning)
    try:
        return application(
            survey,
            store,
            admin=None if admin_token is None else AdminToken.of(admin_token),
            per_minute=per_minute or None,
            behind_proxy=behind_proxy,
            hsts=behind_proxy,
        )
    except BaseException:
        store.close()
        raise


def serve(app: Any, host: str, port: int, *, ready: Callable[[str], None] = lambda url: None) -> None:
    """Run an application until the process is asked to end; ``ready`` gets the address once it listens."""
    try:
        import uvicorn
    except ImportError:
        raise missing_package("The service needs the packages starlette and uvicorn", "collect") from None
    listener = _listen(host, port)
    quiet_logging()
    config = uvicorn.Config(
        app,
        access_log=False,  # a line per request would be a time stamp for every answer
        log_config=None,
        proxy_headers=False,  # the service reads what it needs itself, and only if it is told so
        server_header=False,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=10,
        lifespan="on",
        ws="none",
        h11_max_incomplete_event_size=65_536,
    )
    with listener:
        name, bound = listener.getsockname()[:2]
        shown = f"[{name}]" if ":" in name else name
        ready(f"http://{shown}:{bound}")
        uvicorn.Server(config).run(sockets=[listener])


def quiet_logging() -> None:
    """Errors only, without times: neither requests nor addresses are logged."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    for name, level in (("uvicorn", logging.CRITICAL), ("pkanon.collect", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)


def _listen(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65_535:
        raise InputError(f"There is no port {port}; choose one from 1 to 65535, or 0 for any that is free.")
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        reason = error.strerror or "the address cannot be used"
        raise EnvironmentFailure(f"Cannot listen on {host}:{port}: {reason}.") from None
