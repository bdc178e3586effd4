"""Texts that another version of pkanon may have worded otherwise: whose they are, and whether their numbers are right."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..._release import Certificate

_VERSION = re.compile(r"pkanon [0-9]+(\.[0-9]+)+[0-9A-Za-z.+-]*")
_NUMBER = re.compile(r"\b(k|epsilon) = (unbounded|[0-9][0-9,]*(?:\.[0-9]+)?)")


def is_version(software: object) -> bool:
    """Whether this is the name of some version of pkanon."""
    return isinstance(software, str) and _VERSION.fullmatch(software) is not None


def wrong_numbers(texts: Iterable[object], right: Certificate) -> bool:
    """Whether texts say "k = ..." or "epsilon = ..." of a number that the right certificate does not state."""
    said = _numbers(texts)
    stated = _numbers([*right.statement, *right.assumptions, *right.outside])
    return not said <= stated


def _numbers(texts: Iterable[object]) -> set[tuple[str, ...]]:
    return {match.groups() for text in texts for match in _NUMBER.finditer(" ".join(str(text).split()))}
