"""The block in one entry of a plan file. Of the mechanisms, those that a plan names are loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from .._errors import PlanError, did_you_mean
from .._schema import Unit
from .base import Block

KINDS = {"retention": "Retention", "matrix": "Matrix", "agreement": "Agreement"}
"""The class of each kind, in the module that is called like the kind."""


def block_from_json(data: Mapping[str, Any], units: Sequence[Unit]) -> Block:
    """The block in one entry of a plan file; an unknown kind is refused, never skipped."""
    kind = data.get("kind")
    if kind not in KINDS:
        raise PlanError(f"The plan has a block of the unknown kind '{kind}'. {did_you_mean(str(kind), KINDS)}")
    named: type[Block] = getattr(import_module(f".{kind}", __package__), KINDS[kind])
    return named.from_json(data, units)
