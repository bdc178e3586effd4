"""The unbiased table: the inverse of the randomisation, applied to the released counts (docs/why/theory.md 7)."""

from __future__ import annotations

from .._blocks import Counts
from .._progress import Progress
from .channel import Channel
from .method import Made, Method
from .source import Source


def _fit(channel: Channel, released: Counts, source: Source, progress: Progress) -> Made:
    return Made(channel.inverse(released))


INVERSE = Method("inverse", "unbiased; cells may be negative", _fit, unbiased=True)
