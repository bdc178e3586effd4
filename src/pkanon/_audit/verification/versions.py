"""Which version of pkanon wrote a release: only what this version would have written word for word can be checked here."""

from __future__ import annotations

import re

from ..._release import CERTIFICATE
from .case import Case

_VERSION = re.compile(r"pkanon [0-9]+(\.[0-9]+)+[0-9A-Za-z.+-]*")
UNKNOWN = "Written by a version of pkanon that this one does not know; use that version to verify."


def is_version(software: object) -> bool:
    """Whether this is the name of some version of pkanon."""
    return isinstance(software, str) and _VERSION.fullmatch(software) is not None


def explained(faults: list[str], case: Case, software: str) -> list[str]:
    """Differences from what ``software`` writes; if the release names another version, that comes first."""
    named = (case.value(CERTIFICATE) or {}).get("software")
    return [UNKNOWN, *faults] if faults and is_version(named) and named != software else faults
