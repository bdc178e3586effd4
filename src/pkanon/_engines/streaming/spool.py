"""Temporary files that tell nothing: without a name, and enciphered under a key that is in memory only.

Randomised rows stand here in the order of the table, before they are shuffled: epsilon would hold for whoever reads them, but k
would not. A file without a name cannot be opened by others and is gone when the process ends, however it ends. What it held stays on
the disk until something else is written there. So all of it is enciphered (AES-256 in counter mode, a key for each file). Every
place is written once, so no part of a keystream serves twice.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import CTR
from numpy.typing import NDArray

from ..._errors import EnvironmentFailure

T = TypeVar("T")
_BLOCK = 16
_CHUNK = 2**20
"""Bytes that are enciphered in one go."""


class Spool:
    """A temporary file in ``folder``, written and read at any place by any thread."""

    def __init__(self, folder: Path) -> None:
        self._file = _on_disk(folder, partial(tempfile.TemporaryFile, dir=folder, buffering=0))
        self._key = os.urandom(32)

    def write(self, content: Any, offset: int) -> None:
        """Put an array or bytes to a place where nothing was written before."""
        rest, cipher, at = memoryview(content).cast("B"), self._cipher(offset), offset
        for start in range(0, len(rest), _CHUNK):
            chunk = cipher.update(rest[start : start + _CHUNK])
            _on_disk(None, partial(self._put, memoryview(chunk), at))
            at += len(chunk)

    def read(self, array: NDArray[Any], offset: int) -> None:
        """Fill an array with what was written to a place."""
        if not array.nbytes:
            return
        raw = memoryview(array.data).cast("B")
        _on_disk(None, partial(self._get, raw, offset))
        cipher = self._cipher(offset)
        for start in range(0, len(raw), _CHUNK):
            raw[start : start + _CHUNK] = cipher.update(raw[start : start + _CHUNK])

    def close(self) -> None:
        """Forget the key and what was written; the space on the disk is free again."""
        self._key = b""
        self._file.close()

    def _cipher(self, offset: int) -> CipherContext:
        """The keystream from a place on; to encipher and to decipher are the same."""
        cipher = Cipher(AES256(self._key), CTR((offset // _BLOCK).to_bytes(_BLOCK, "big"))).encryptor()
        cipher.update(bytes(offset % _BLOCK))
        return cipher

    def _put(self, rest: memoryview, at: int) -> None:
        while rest:
            written = os.pwrite(self._file.fileno(), rest, at)
            rest, at = rest[written:], at + written

    def _get(self, rest: memoryview, at: int) -> None:
        while rest:
            count = os.preadv(self._file.fileno(), [rest], at)
            if count == 0:
                raise OSError("a temporary file is shorter than it was")
            rest, at = rest[count:], at + count


def _on_disk(folder: Path | None, action: Callable[[], T]) -> T:
    """What ``action`` returns; a failure of the disk is one of the environment."""
    try:
        return action()
    except OSError as error:
        reason = error.strerror or "the disk failed"
    where = "" if folder is None else f" in {folder.absolute()}"
    raise EnvironmentFailure(
        f"Temporary files{where} cannot be used: {reason}; they hold the codes of all rows and 8 bytes for each, "
        "16 more if there is an id, and the columns that are passed on."
    )
