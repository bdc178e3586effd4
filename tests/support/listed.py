"""Word sources whose words a test writes down: each is a keystream of five lines."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

DTYPES = {16: np.uint16, 32: np.uint32, 64: np.uint64}


class Listed:
    """The same listed words for every stream: record i gets ``words[i]``."""

    def __init__(self, words: ArrayLike):
        self._words = np.asarray(words, np.uint64)

    def words(self, stream: int, start: int, count: int, width: int) -> NDArray[Any]:
        assert start + count <= len(self._words)
        return self._words[start : start + count].astype(DTYPES[width])


class ByStream:
    """Listed words for each stream; a stream that is not listed is not asked for."""

    def __init__(self, streams: Mapping[int, ArrayLike]):
        self._streams = {stream: np.asarray(words, np.uint64) for stream, words in streams.items()}

    def words(self, stream: int, start: int, count: int, width: int) -> NDArray[Any]:
        got = self._streams[stream][start : start + count].astype(DTYPES[width])
        assert len(got) == count
        return got


def stepped(period: int, step: int = 9973) -> Listed:  # odd, so that neighbours in a piece get unlike words
    """Word i is ``(i // period + step * (i % period)) mod 2^16``, for i below ``period * 2^16``.

    With pieces of ``period`` rows, every place inside a piece meets every 16-bit word exactly once.
    """
    piece, place = np.divmod(np.arange(period * 2**16), period)
    return Listed((piece + step * place) % 2**16)
