"""The differential privacy of a shuffled release as a whole, as a plan states it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..._blocks import Block
from ..._errors import TargetError
from ..numbers import exact
from ..privacy import round_up


@dataclass(frozen=True)
class Central:
    """The differential privacy of a shuffled release as a whole.

    Attributes
    ----------
    epsilon, delta
        The release is (epsilon, delta)-differentially private.
    lower
        No proof can go below this epsilon.

    Examples
    --------
    >>> import pkanon as pk
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=20)
    >>> central = plan.central(delta=1e-6)
    >>> central.lower <= central.epsilon < plan.epsilon
    True
    """

    epsilon: float
    delta: float
    lower: float

    def __str__(self) -> str:
        return f"central epsilon at most {round_up(self.epsilon)} at delta = {self.delta!r} (at least {math.floor(self.lower * 1e4) / 1e4})"


def central(blocks: Sequence[Block], records: int, delta: float | None) -> Central:
    """(epsilon, delta) of a release of ``records`` rows, from above, with a bound from below."""
    from .upper import central_epsilon, central_lower

    chosen = checked_delta(delta, records)
    return Central(central_epsilon(blocks, records, chosen), chosen, central_lower(blocks, records, chosen))


def default_delta(records: int) -> float:
    """1/(10 n): far enough below 1/n that giving away one person's row whole is not private."""
    check_records(records)
    return 1 / (10 * records)


def check_records(records: int) -> None:
    """Refuse a table in which nobody can hide."""
    if records < 2:
        raise TargetError(f"records = {records}: shuffling hides nothing unless there are at least 2 records.")


def checked_delta(delta: object, records: int) -> float:
    """Delta as it was asked for, or the default."""
    if delta is None:
        return default_delta(records)
    chosen = float(exact(delta, "delta", up=False))
    if not 0 < chosen < 1 / records:
        raise TargetError(
            f"delta = {delta}: it must be above 0 and below 1/records = {1 / records:.3g}, or giving away one whole row "
            "would count as private."
        )
    return chosen
