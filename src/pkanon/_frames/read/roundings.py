"""In which ways numbers between points can have been rounded, and how likely each way was.

A release rounds at random and forgets how. Whoever compares it with the private table has to reckon with every way: one for
each choice of the point below or above, for each attribute with points.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._schema import Attribute, Codes, Points, code_dtype


@dataclass(frozen=True)
class Rounding:
    """One way: a code for every row and attribute, and the ``chances`` of the rows, an array for each attribute with points.

    Each chance is exact; those of one row are to be multiplied.
    """

    codes: Mapping[str, Codes]
    chances: tuple[NDArray[np.float64], ...]

    def share(self, rows: int) -> NDArray[np.float64]:
        """How likely this way was, row by row."""
        share = np.ones(rows)
        for chance in self.chances:
            share *= chance
        return share


def roundings(codes: Mapping[str, Codes], attributes: Sequence[Attribute]) -> Iterator[Rounding]:
    """All ways, for codes that :func:`encode` left ``unrounded``; one way of chance 1 if no attribute has points."""
    pointed = [attribute for attribute in attributes if isinstance(attribute.domain, Points)]
    plain = {attribute.name: codes[attribute.name] for attribute in attributes}
    for steps in itertools.product((0, 1), repeat=len(pointed)):
        chosen, chances = dict(plain), []
        for attribute, step in zip(pointed, steps):
            assert isinstance(attribute.domain, Points)
            bits = attribute.domain.bits
            places = plain[attribute.name].astype(np.int64)
            way = (places & (2**bits - 1)) / 2**bits
            # there is no point above one that is met exactly; that way has no chance
            above = np.minimum((places >> bits) + step, attribute.size - 1)
            chosen[attribute.name] = above.astype(code_dtype(attribute.size))
            chances.append(way if step else 1 - way)
        yield Rounding(chosen, tuple(chances))
