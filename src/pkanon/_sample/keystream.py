"""Random words by position.

AES-256 in counter mode under one fresh key per release. The counter block is the stream number (8
bytes, big-endian) followed by the block number (8 bytes, big-endian), and word i of width w is the
little-endian bytes [i w/8, (i+1) w/8) of its stream. So what a record draws depends on nothing but
the plan, the key and the record's number: not on piece sizes, threads or engines.

Streams: (block, draw, round) -> block 2^24 + draw 2^8 + round. Order words 2^63 + round. Count noise
2^62 + round, and the values of dummy rows 2^62 + 2^32 (unit + 1) + round (docs/why/theory.md 10). Numbers rounded to points
2^61 + column. Which row of a person stays 2^60 + round (docs/why/theory.md 11).
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

ORDER_STREAM = 2**63
COUNT_STREAM = 2**62
ROUNDING_STREAM = 2**61
REPEATS_STREAM = 2**60
KEY_BYTES = 32
_AES_BLOCK = 16
_ZEROS = memoryview(bytes(2**20))


def block_stream(block: int, draw: int, round: int) -> int:
    """The stream that serves one draw of one block in one round."""
    if not (0 <= draw < 2**16 and 0 <= round < 2**8 and 0 <= block < 2**32):
        raise ValueError("no stream is reserved for this block, draw and round")
    return (block << 24) + (draw << 8) + round


def dummy_stream(unit: int, round: int) -> int:
    """The stream that gives dummy rows the values of one unit."""
    if not (0 <= unit < 2**24 and 0 <= round < 2**32):
        raise ValueError("no stream is reserved for this unit and round")
    return COUNT_STREAM + ((unit + 1) << 32) + round


def rounding_stream(column: int) -> int:
    """The stream that rounds the numbers of one attribute to its points."""
    return ROUNDING_STREAM + column


class WordSource(Protocol):
    """Anything that gives random words by stream and position; tests list their words by hand."""

    def words(self, stream: int, start: int, count: int, width: int) -> NDArray[Any]:
        """Words ``start`` .. ``start + count - 1`` of ``width`` bits, as unsigned integers."""


class Randomness(Protocol):
    """Where the key of a release comes from. Only :class:`System` itself lets a release claim anything."""

    def key(self) -> bytes:
        """32 bytes for one release."""


@dataclass(frozen=True, slots=True)  # slots: no key of somebody's own can be put on an object of this class
class System:
    """A fresh key from the operating system for every release.

    No other source of keys lets a release claim anything, not even a subclass of this one.

    Examples
    --------
    >>> import pkanon as pk
    >>> pk.System().private
    True
    """

    private: ClassVar[bool] = True

    def key(self) -> bytes:
        """32 bytes, other ones each time."""
        return os.urandom(KEY_BYTES)


@dataclass(frozen=True)
class Seeded:
    """A key that anyone with the seed can compute: for tests and teaching. It protects nobody.

    Parameters
    ----------
    seed
        Any integer; the same seed and plan give the same rows.

    Examples
    --------
    >>> import pkanon as pk
    >>> pk.Seeded(7).private
    False
    """

    seed: int = field(repr=False)

    private: ClassVar[bool] = False

    def key(self) -> bytes:
        """32 bytes, the same for the same seed."""
        return hashlib.sha256(b"pkanon seed %d" % self.seed).digest()


def is_private(randomness: Randomness) -> bool:
    """Whether a release made with this key may claim anything: only if the operating system alone draws it."""
    return type(randomness) is System


class Keystream:
    """The words of one release. The key never leaves the object and is not shown."""

    def __init__(self, key: bytes) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        algorithm = algorithms.AES256(key)
        self._new: Callable[[bytes], Any] = lambda counter: Cipher(algorithm, modes.CTR(counter)).encryptor()
        self._own = threading.local()

    def _encryptor(self, counter: bytes) -> Any:
        """The encryptor of this thread, set to a counter; a new one costs more than a few thousand words."""
        encryptor = getattr(self._own, "encryptor", None)
        if encryptor is None:
            encryptor = self._own.encryptor = self._new(counter)
        else:
            encryptor.reset_nonce(counter)
        return encryptor

    def words(self, stream: int, start: int, count: int, width: int) -> NDArray[Any]:
        """Words ``start`` .. ``start + count - 1`` of ``width`` bits, in an array the caller may overwrite."""
        size = width // 8
        first, skip = divmod(start * size, _AES_BLOCK)
        wanted = skip + count * size  # skip is a whole number of words: 16 is divisible by every size
        buffer = np.empty(wanted + _AES_BLOCK, np.uint8)  # the cipher asks for one block of room
        encryptor = self._encryptor(stream.to_bytes(8, "big") + first.to_bytes(8, "big"))
        room = memoryview(buffer.data)
        done = 0
        while done < wanted:
            step = min(wanted - done, len(_ZEROS))
            if encryptor.update_into(_ZEROS[:step], room[done:]) != step:
                raise RuntimeError("the cipher did not fill its buffer")
            done += step
        return buffer[skip:wanted].view(f"<u{size}")
