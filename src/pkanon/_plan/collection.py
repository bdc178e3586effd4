"""How rows were collected, where the people's own devices have randomised them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._errors import InputError

OPEN_LINK = "open link"
LINKABLE = "invited, operator can link"
UNLINKABLE = "invited, unlinkable given separation"
SIMULATED = "simulated, to try a survey"
MODES = (OPEN_LINK, LINKABLE, UNLINKABLE, SIMULATED)


@dataclass(frozen=True)
class Collection:
    """How the rows of a collected release came in.

    Parameters
    ----------
    mode
        ``open link``, ``invited, operator can link`` or ``invited, unlinkable given separation``; or ``simulated, to try a
        survey``, where nobody answered.
    batch
        The number of the batch, if the survey was released in disjoint batches; else None.
    """

    mode: str
    batch: int | None = None

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise InputError(f"A survey is collected by one of these modes: {'; '.join(MODES)}.")
        if self.batch is not None and (type(self.batch) is not int or self.batch < 1):
            raise InputError("Batches of a survey are numbered from 1.")

    @property
    def invited(self) -> bool:
        """Whether an answer needed an invitation."""
        return self.mode in (LINKABLE, UNLINKABLE)

    @property
    def simulated(self) -> bool:
        """Whether a program made the answers up."""
        return self.mode == SIMULATED

    @property
    def linkable(self) -> bool:
        """Whether the operator could link an answer to its invitation."""
        return self.mode == LINKABLE

    def to_json(self) -> dict[str, Any]:
        """The entry of a certificate."""
        return {"mode": self.mode, "batch": self.batch}

    @classmethod
    def from_json(cls, data: Mapping[str, Any] | None) -> Collection | None:
        """The inverse of :meth:`to_json`; None for a table that a custodian has randomised."""
        if data is None:
            return None
        if set(data) != {"mode", "batch"}:
            raise ValueError("not the way a release was collected")
        return cls(data["mode"], data["batch"])
