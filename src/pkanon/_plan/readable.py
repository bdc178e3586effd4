"""How a table of a plan will read to a person, before any data exist.

The level of a table follows from its predicted L1 error alone (predict.py): the sum of the absolute errors of all cells, as a
share of the records. Where a prediction is an upper bound, the table may read better than its level says, never worse.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .modelled import usual_error
from .predict import Predictor

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
    records
        How many records the error is for; 0 if that is not known.

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
    records: int = 0

    @property
    def name(self) -> str:
        """The attributes in one text: sex x age."""
        return " x ".join(self.attributes)

    @property
    def level(self) -> str:
        """good, fair, poor or not readable."""
        return level_of(self.l1)

    @property
    def model(self) -> tuple[float, float] | None:
        """What the error usually is by the method ``model``, and what it is below in nine of ten tables; None if not known.

        Measured on real tables, not promised.
        """
        return usual_error(self.l1, len(self.attributes), self.records)


MEANING = (
    "A table is good if its error is below 0.1, fair below 0.3, poor below 1; from 1 on it cannot be read. The error is the "
    "expected sum of absolute errors of all its corrected cells, divided by the records."
)
"""What the levels mean, for people."""


def error_text(table: Reading) -> str:
    """The error of a table, for people to read."""
    if math.isinf(table.l1):
        return "nothing left"
    bound = "" if table.exact else "at most "
    if table.l1 >= 100:
        return f"{bound}{table.l1:,.0f}"
    # an error of 0.298 is fair, and must not be shown as 0.3
    digits = next((d for d in (2, 3, 4) if level_of(float(f"{table.l1:.{d}g}")) == table.level), 6)
    return f"{bound}{table.l1:.{digits}g}"


def readings(
    predictor: Predictor, records: int, names: Sequence[str], tables: Iterable[Sequence[str]]
) -> list[Reading]:
    """Each of ``tables`` once, as readability.py names them; the others are not computed."""
    found: dict[frozenset[str], Reading] = {}
    for table in tables:
        small = len(table) == 2 and set(table) <= set(names) and table[0] != table[1]
        wanted = tuple(name for name in names if name in table) if small else tuple(table)
        if frozenset(wanted) not in found or len(wanted) != len(frozenset(wanted)):
            found[frozenset(wanted)] = reading_of(predictor, records, wanted)
    return list(found.values())


def reading_of(predictor: Predictor, records: int, table: Sequence[str]) -> Reading:
    """How one table reads in a release of ``records`` rows."""
    p = predictor.predict(records, table)
    return Reading(p.attributes, p.cells, p.l1, p.exact, records)
