"""The driver's end of the private lines: it tells executors the key and takes in the parts that they have sorted.

Everything it knows lives in memory and ends with the release. What an executor may ask:

    digest   the key of digests, to describe a partition without saying anything about it
    ids      the key of pseudonyms, to compare ids without writing them down
    words    the key of the release, with the number of the partition's first record and what the partition must be
    part     takes a sorted part and puts it into a file; no answer but "taken"

An executor asks for no more than its step needs. Parts are files of randomised codes: the columns of codes one after the other,
then the passed columns. A task that runs twice sends its part twice, to two files; the driver reads the one that Spark counts.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from .channel import TOKEN_BYTES, Channel, Refused, answer

_WAITING = 128


@dataclass(frozen=True)
class Line:
    """Where to call, and the token to call with: what a closure may hold."""

    address: tuple[str, int]
    token: bytes


@dataclass(frozen=True)
class Expected:
    """A partition as the first pass found it: the number of its first record, its rows and their digest."""

    first: int
    rows: int
    digest: str


class Host:
    """Answers calls while it is open."""

    def __init__(self, host: str, bind: str, port: int, key: bytes) -> None:
        self._key = key
        self._digest_key, self._id_key = secrets.token_bytes(32), secrets.token_bytes(32)
        self._partitions: Mapping[int, Expected] = {}
        self._folder: Path | None = None
        self.trouble: OSError | None = None
        """Why a part could not be put into its file."""
        family = socket.AF_INET6 if ":" in bind else socket.AF_INET
        self._server = socket.create_server((bind, port), family=family, backlog=_WAITING)
        self.line = Line((host, self._server.getsockname()[1]), secrets.token_bytes(TOKEN_BYTES))
        self._thread = threading.Thread(target=self._listen, daemon=True, name="pkanon-spark-host")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits for calls
        self._server.close()
        self._thread.join()
        self._key = self._digest_key = self._id_key = b""
        self._folder = None

    def expect(self, partitions: Mapping[int, Expected]) -> None:
        """From now on the key is told, to tasks of these partitions."""
        self._partitions = partitions

    def take_parts(self, folder: Path) -> None:
        """From now on parts are put into this folder."""
        self._folder = folder

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        # A caller that goes away, or that has another token, is its own trouble: the task will fail and say so.
        with suppress(Refused, OSError, ValueError, LookupError, TypeError), connection:
            line = answer(connection, self.line.token)
            asked = json.loads(line.receive())
            if asked["ask"] == "part":
                line.send(json.dumps(self._take(line, asked)).encode())
            else:
                line.send(json.dumps(self._tell(asked)).encode())

    def _tell(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        match asked["ask"]:
            case "digest":
                return {"key": self._digest_key.hex()}
            case "ids":
                return {"key": self._id_key.hex()}
            case "words":
                expected = self._partitions[asked["partition"]]
                return {
                    "key": self._key.hex(),
                    "digest_key": self._digest_key.hex(),
                    "first": expected.first,
                    "rows": expected.rows,
                    "digest": expected.digest,
                }
        raise LookupError

    def _take(self, line: Channel, asked: Mapping[str, Any]) -> dict[str, Any]:
        if self._folder is None:
            raise LookupError
        path = part_file(self._folder, int(asked["part"]), int(asked["attempt"]))
        with self._on_disk():
            file = open(path, "xb", buffering=0, opener=_owner_only)  # noqa: SIM115 (closed below)
        with file:
            for _ in range(int(asked["messages"])):
                rest = memoryview(line.receive())
                with self._on_disk():
                    while rest:
                        rest = rest[file.write(rest) :]
        return {"taken": True}

    @contextmanager
    def _on_disk(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.trouble = error
            raise


def part_file(folder: Path, part: int, attempt: int) -> Path:
    """The file of one part, as one attempt of its task sent it."""
    return folder / f"part-{part:06d}-{attempt}"


def _owner_only(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
