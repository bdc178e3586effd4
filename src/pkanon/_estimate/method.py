"""A method of estimation: its name, a summary of its table, and the function that computes the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from .._blocks import Counts
from .._progress import Progress
from .channel import Channel
from .source import Source


@dataclass(frozen=True)
class Convergence:
    """How the search for a table ended.

    Attributes
    ----------
    gap
        No table has a log-likelihood more than this above the one returned.
    passes
        How many steps it took; 0 for a closed form.
    converged
        Whether the gap is within the tolerance.
    log_likelihood
        That of the table returned.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=20)
    >>> release = pk.release(pl.DataFrame({"sex": ["F", "M"] * 500}), plan)
    >>> release.crosstab("sex", method="em").convergence.converged
    True
    """

    gap: float
    passes: int
    converged: bool
    log_likelihood: float

    @property
    def remark(self) -> str | None:
        """What a reader of the table must know; None if it was found."""
        if self.converged:
            return None
        return (
            f"The most likely table was not quite reached in {self.passes:,} steps; its log-likelihood may be "
            f"{self.gap:.3g} below the largest."
        )


class Made(NamedTuple):
    """The table of people that a method found, the convergence if it had to search, and sentences on how it was found."""

    counts: Counts
    convergence: Convergence | None = None
    notes: tuple[str, ...] = ()


Fit: TypeAlias = Callable[[Channel, Counts, Source, Progress], Made]
"""Computes the table of people from the released one; ``source`` has the rows behind it, for methods that look at all of them."""


class Method(NamedTuple):
    """A way to estimate a table; ``summary`` describes the table in a few words."""

    name: str
    summary: str
    fit: Fit
    unbiased: bool = False
