"""Connections that must come to the point: one that has not sent the head of a request in time is closed.

uvicorn waits for ever for the first request of a connection, and for the rest of a head that has begun.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from . import limits


class PromptProtocol(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, with a limit on the time until the head of a request is there."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_idle:
            self._expect()
        else:
            self._relax()

    def connection_lost(self, exc: Exception | None) -> None:
        self._relax()
        super().connection_lost(exc)

    @property
    def _is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _expect(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(limits.REQUEST_PATIENCE, self._give_up)

    def _relax(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if self._is_idle:
            self.transport.close()
