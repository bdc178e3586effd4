"""A wire between a browser and a service: it notes every byte, and it can be cut."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from types import TracebackType


class Wire:
    """Forwards connections to a port of this machine and keeps what was said.

    While ``loses_replies_to`` is set, a request that begins with it reaches the service, but its reply never comes back.
    """

    def __init__(self) -> None:
        self.upstream = 0
        """The port to forward to."""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lock = threading.Lock()
        self.sent: list[bytes] = []
        """What browsers said, one entry for each connection."""
        self.received: list[bytes] = []
        """What the service said to each of them."""
        self.loses_replies_to: bytes | None = None
        self.lost = 0

    @property
    def url(self) -> str:
        """The address for browsers."""
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}/"

    @property
    def requests(self) -> bytes:
        """Everything that browsers said."""
        return b"\n".join(self.sent)

    def __enter__(self) -> Wire:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            service = socket.create_connection(("127.0.0.1", self.upstream))
            with self._lock:
                number = len(self.sent)
                self.sent.append(b"")
                self.received.append(b"")
            loses = threading.Event()
            threading.Thread(target=self._up, args=(client, service, number, loses), daemon=True).start()
            threading.Thread(target=self._down, args=(service, client, number, loses), daemon=True).start()

    def _up(self, client: socket.socket, service: socket.socket, number: int, loses: threading.Event) -> None:
        for data in _pieces(client):
            if self.loses_replies_to and data.startswith(self.loses_replies_to):
                loses.set()
            with self._lock:
                self.sent[number] += data
            service.sendall(data)
        _close(service)

    def _down(self, service: socket.socket, client: socket.socket, number: int, loses: threading.Event) -> None:
        for data in _pieces(service):
            if loses.is_set():
                with self._lock:
                    self.lost += 1
                break
            with self._lock:
                self.received[number] += data
            client.sendall(data)
        _close(service)
        _close(client)


def _pieces(source: socket.socket) -> Iterator[bytes]:
    def read() -> bytes:
        try:
            return source.recv(65_536)
        except OSError:
            return b""

    return iter(read, b"")


def _close(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
