"""Numbers between points, rounded at random to one of the two next to them.

A place is a code and a part of the way to the next code, in units of 2^-bits. Adding a uniform number of that many bits and
cutting it off goes on to the next code with exactly that part as probability. Every row has a word of its own, so rounding
is part of what happens to one row alone, before it is randomised.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._schema import Codes, code_dtype
from .keystream import WordSource, rounding_stream

_PIECE = 2**16


def round_places(
    places: NDArray[np.uint32], bits: int, size: int, column: int, source: WordSource, *, first_record: int = 0
) -> Codes:
    """The codes of rounded ``places``; ``size`` is how many codes there are, ``column`` the number of the attribute.

    ``first_record`` is the number of the first row in the whole table.
    """
    codes = np.empty(len(places), code_dtype(size))
    for start in range(0, len(places), _PIECE):
        piece = places[start : start + _PIECE]
        words = source.words(rounding_stream(column), first_record + start, len(piece), 32)
        codes[start : start + len(piece)] = (piece + (words >> np.uint32(32 - bits))) >> np.uint32(bits)
    return codes
