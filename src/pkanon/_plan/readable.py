"""How the tables of a plan will read to a person, before any data exist.

The level of a table follows from its predicted L1 error alone (predict.py): the sum of the absolute errors of all cells, as a
share of the records. Where a prediction is an upper bound, the table may read better than its level says, never worse.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from .._blocks import Block
from .predict import predict

LEVELS = {"good": 0.1, "fair": 0.3, "poor": 1.0, "not readable": math.inf}
"""How a table reads, best first: the first level whose limit is above its L1 error."""


def level_of(l1: float) -> str:
    """How a table with this L1 error reads."""
    return next((level for level, limit in LEVELS.items() if l1 < limit), "not readable")


@dataclass(frozen=True)
class Reading:
    """One table and how it reads.

    Attributes
    ----------
    attributes
        The attributes of the table.
    cells
        How many cells it has.
    l1
        The expected sum of absolute errors, divided by the number of records; infinite where nothing is left of it.
    exact
        Whether the prediction holds for every data set; otherwise it is at most this.

    Examples
    --------
    >>> import pkanon as pk
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=20)
    >>> plan.readable().of("sex").level
    'good'
    """

    attributes: tuple[str, ...]
    cells: int
    l1: float
    exact: bool

    @property
    def name(self) -> str:
        """The attributes in one text: sex x age."""
        return " x ".join(self.attributes)

    @property
    def level(self) -> str:
        """good, fair, poor or not readable."""
        return level_of(self.l1)


@dataclass(frozen=True)
class Readability:
    """Every table of one and two attributes, and how it reads: good (L1 < 0.1), fair (< 0.3), poor (< 1), not readable.

    Attributes
    ----------
    records
        The number of records that the errors are for.
    tables
        One entry per table: single attributes in the order of the schema, then pairs.

    Examples
    --------
    >>> import pkanon as pk
    >>> schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("rooms", 1, 9)])
    >>> readable = pk.plan(schema, records=1_000, k=20).readable()
    >>> readable.counts(2)
    {'good': 0, 'fair': 0, 'poor': 0, 'not readable': 1}
    >>> readable.best.name, readable.worst.name
    ('sex', 'sex x rooms')
    """

    records: int
    tables: tuple[Reading, ...]

    def counts(self, attributes: int | None = None) -> dict[str, int]:
        """How many tables read how, best level first; those of so many ``attributes``, or all."""
        levels = [table.level for table in self.tables if attributes in (None, len(table.attributes))]
        return {level: levels.count(level) for level in LEVELS}

    @property
    def best(self) -> Reading:
        """The table with the least error."""
        return min(self.tables, key=lambda table: table.l1)

    @property
    def worst(self) -> Reading:
        """The table with the largest error."""
        return max(self.tables, key=lambda table: table.l1)

    def of(self, *attributes: str) -> Reading:
        """The table of these ``attributes``, in any order."""
        return self._by_names[frozenset(attributes)]

    @cached_property
    def _by_names(self) -> Mapping[frozenset[str], Reading]:
        return {frozenset(table.attributes): table for table in self.tables}

    def __str__(self) -> str:
        counts = ", ".join(f"{count:,} {level}" for level, count in self.counts().items() if count)
        return f"{len(self.tables):,} tables of one and two attributes: {counts}"


def readable(blocks: Sequence[Block], records: int, names: Sequence[str]) -> Readability:
    """How every table of one and two of the attributes ``names`` reads in a release of ``records`` rows."""
    tables: Iterable[tuple[str, ...]] = [(name,) for name in names]
    tables = [*tables, *itertools.combinations(names, 2)]
    predictions = [predict(blocks, records, table) for table in tables]
    return Readability(records, tuple(Reading(p.attributes, p.cells, p.l1, p.exact) for p in predictions))
