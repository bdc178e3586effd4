"""Ids compared without being written down: keyed pseudonyms, a whole column at a time.

A pseudonym is the CBC-MAC of the id under AES-256, with the length of the id in the first block; the key lives in memory for one
release. Equal ids have equal pseudonyms, different ids have different ones but for a chance of about rows^2 / 2^128, and
nothing else can be told from them without the key. So they may lie in shuffle files, where ids must not.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import ECB
from numpy.typing import NDArray

from ..._errors import DataError

_BLOCK = 16


def pseudonyms(ids: pl.Series, key: bytes) -> NDArray[np.int64]:
    """One row of two numbers per id; ``ids`` are of one type that can be compared, and none is missing."""
    lengths, data = _bytes_of(ids)
    blocks = max(1, -(-int(lengths.max(initial=0)) // _BLOCK))
    matrix = np.zeros((len(ids), blocks * _BLOCK), np.uint8)
    within = np.arange(len(data)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    matrix[np.repeat(np.arange(len(ids)), lengths), within] = data
    encryptor = Cipher(AES256(key), ECB()).encryptor()  # one block at a time is chained below
    state = np.zeros((len(ids), _BLOCK), np.uint8)
    state[:, :8] = lengths.astype("<u8").view(np.uint8).reshape(-1, 8)
    state = _encrypted(encryptor, state)
    for block in range(blocks):
        going_on = lengths > block * _BLOCK  # an id that has ended keeps its pseudonym, however long others are
        chained = state ^ matrix[:, block * _BLOCK : (block + 1) * _BLOCK]
        state = np.where(going_on[:, None], _encrypted(encryptor, chained), state)
    return np.ascontiguousarray(state).view(np.int64)


def _encrypted(encryptor: object, blocks: NDArray[np.uint8]) -> NDArray[np.uint8]:
    data = encryptor.update(np.ascontiguousarray(blocks).data)  # type: ignore[attr-defined]
    return np.frombuffer(data, np.uint8).reshape(-1, _BLOCK)


def _bytes_of(ids: pl.Series) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """The bytes of all ids in a row, and how many each has; the same bytes for ids that are equal."""
    dtype = ids.dtype
    if isinstance(dtype, (pl.Categorical, pl.Enum, pl.Decimal)):
        ids = ids.cast(pl.String)
    elif dtype.is_float():
        numbers = ids.cast(pl.Float64).to_numpy() + 0.0  # + 0.0: minus zero is zero
        ids = pl.Series(ids.name, np.ascontiguousarray(numbers).view(np.int64))
    elif dtype.is_temporal() or dtype.is_integer() or isinstance(dtype, pl.Boolean):
        ids = ids.to_physical().cast(pl.Int64)
    if isinstance(ids.dtype, pl.String):
        ids = ids.cast(pl.Binary)
    if isinstance(ids.dtype, pl.Binary):
        array = ids.rechunk().to_arrow(
            compat_level=pl.CompatLevel.oldest()
        )  # one buffer of bytes, and where each id begins
        _, offsets, data = array.buffers()
        starts = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
        everything = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
        return np.diff(starts), everything[starts[0] : starts[-1]]
    if not isinstance(ids.dtype, pl.Int64):
        raise DataError(f"The id column '{ids.name}' cannot be compared.")
    return np.full(len(ids), 8, np.int64), np.ascontiguousarray(ids.to_numpy()).view(np.uint8)
