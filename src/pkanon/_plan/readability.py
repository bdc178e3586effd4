"""How all tables of one and two attributes of a plan will read, or those of a workload."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .predict import Predictor
from .readable import LEVELS, MEANING, Reading, error_text, level_of, reading_of

if TYPE_CHECKING:
    import polars as pl

MOST_NAMED = 3
"""Tables that are named as the best and as the worst."""
MOST_SERVED = 100_000
"""Tables of a workload that are looked at; larger ones of a workload with more are left out."""


@dataclass(frozen=True, repr=False)
class Readability:
    """Every table of one and two attributes, and how it reads: good (L1 < 0.1), fair (< 0.3), poor (< 1), not readable.

    :func:`readability_chart` draws it.

    Attributes
    ----------
    records
        The number of records that the errors are for.
    tables
        One entry per table: single attributes in the order of the schema, then pairs, then what else was named.
    named
        The tables that were named, in their order; pairs among them are in ``tables`` once.

    Examples
    --------
    >>> import pkanon as pk
    >>> schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("rooms", 1, 9)])
    >>> readable = pk.plan(schema, records=1_000, k=20).readable()
    >>> readable.counts(2)
    {'good': 0, 'fair': 0, 'poor': 0, 'not readable': 1}
    >>> readable.best.name, readable.worst.name
    ('sex', 'sex x rooms')
    >>> print(readable)
    3 tables of one and two attributes: 1 good, 1 fair, 1 not readable
                      tables  good  fair  poor  not readable
      one attribute        2     1     1     0             0
      two attributes       1     0     0     0             1
      best: sex (error 0.092), rooms (0.26)
      worst: sex x rooms (error 1.1)
      poor or unreadable pairs, by method 'model', usually (not promised): 1 poor
    """

    records: int
    tables: tuple[Reading, ...]
    named: tuple[Reading, ...] = ()

    def counts(self, attributes: int | None = None) -> dict[str, int]:
        """How many tables read how, best level first; those of so many ``attributes``, or all."""
        return counts(table for table in self.tables if attributes in (None, len(table.attributes)))

    @property
    def orders(self) -> dict[int, dict[str, int]]:
        """How many tables read how, by the number of their attributes."""
        return {order: self.counts(order) for order in sorted({len(table.attributes) for table in self.tables})}

    @property
    def usable(self) -> int:
        """How many tables read good or fair."""
        found = self.counts()
        return found["good"] + found["fair"]

    @property
    def best(self) -> Reading:
        """The table with the least error."""
        return min(self.tables, key=lambda table: table.l1)

    @property
    def worst(self) -> Reading:
        """The table with the largest error."""
        return max(self.tables, key=lambda table: table.l1)

    @property
    def ranked(self) -> list[Reading]:
        """All tables, the one with the least error first."""
        return sorted(self.tables, key=lambda table: table.l1)

    def of(self, *attributes: str) -> Reading:
        """The table of these ``attributes``, in any order."""
        return self._by_names[frozenset(attributes)]

    @cached_property
    def _by_names(self) -> Mapping[frozenset[str], Reading]:
        return {frozenset(table.attributes): table for table in self.tables}

    @property
    def summary(self) -> str:
        """How many tables read how, in a line."""
        orders = {len(table.attributes) for table in self.tables}
        kinds = " of one and two attributes" if orders == {1, 2} else " of one attribute" if orders == {1} else ""
        number = len(self.tables)
        return f"{number:,} table{'s' * (number != 1)}{kinds}: {_listed(self.counts())}"

    @property
    def warning(self) -> str | None:
        """What to do where most of the tables cannot be read, in two sentences; None where more than half can."""
        lost = self.counts()["not readable"]
        if 2 * lost <= len(self.tables):
            return None
        which = (
            "The table that this plan serves cannot be read: its expected error is"
            if len(self.tables) == 1
            else f"{lost:,} of the {len(self.tables):,} tables that this plan serves cannot be read: their expected errors are"
        )
        return (
            f"{which} as large as the table, or larger. pkanon advise says which columns to drop and which values to merge; "
            "a lower k or more people help, too."
        )

    def to_polars(self) -> pl.DataFrame:
        """Columns: table, attributes (a list), cells, l1, level, exact and model_l1 (usual, null if not known); a row per table."""
        import polars as pl

        return pl.DataFrame(
            {
                "table": [table.name for table in self.tables],
                "attributes": pl.Series([list(table.attributes) for table in self.tables], dtype=pl.List(pl.String)),
                "cells": pl.Series([min(table.cells, 2**63 - 1) for table in self.tables], dtype=pl.Int64),
                "l1": pl.Series([table.l1 for table in self.tables], dtype=pl.Float64),
                "level": pl.Series([table.level for table in self.tables], dtype=pl.Enum(list(LEVELS))),
                "exact": pl.Series([table.exact for table in self.tables], dtype=pl.Boolean),
                "model_l1": pl.Series([t.model[0] if t.model else None for t in self.tables], dtype=pl.Float64),
            }
        )

    def to_json(self) -> dict[str, Any]:
        """Counts by number of attributes, and every table; null where nothing is left of one."""
        return {
            "records": self.records,
            "counts": {str(order): found for order, found in self.orders.items()},
            "tables": [
                {
                    "attributes": list(table.attributes),
                    "cells": table.cells,
                    "l1": table.l1 if math.isfinite(table.l1) else None,
                    "level": table.level,
                    "exact": table.exact,
                    "model_l1": table.model[0] if table.model else None,
                }
                for table in self.tables
            ],
        }

    def __str__(self) -> str:
        rows = [[label, *cells] for label, cells in self._counted()]
        header = ["", "tables", *LEVELS]
        widths = [max(len(row[place]) for row in (header, *rows)) for place in range(len(header))]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))])
            for row in (header, *rows)
        ]
        return "\n".join(
            [
                self.summary,
                *(f"  {line}" for line in lines),
                *(f"  {line}" for line in (*self._extremes(), *([self.by_model] if self.by_model else []))),
            ]
        )

    def __repr__(self) -> str:
        return f"<Readability of {self.summary}>"

    def _repr_html_(self) -> str:
        """Counts, and the tables with the largest errors."""
        head = ["", "tables", *LEVELS]
        from . import notebook

        counted = notebook.table(head, [[label, *cells] for label, cells in self._counted()], [True, *[False] * 5])
        rows = [
            [table.name, f"{table.cells:,}", error_text(table), table.level]
            for table in self.ranked[: -notebook.MOST_ROWS - 1 : -1]
        ]
        worst = notebook.table(
            ["table", "cells", "error", "reads"],
            rows,
            [True, False, False, True],
            hidden=len(self.tables) - len(rows),
        )
        return "".join([notebook.paragraph(self.summary, strong=True), counted, notebook.paragraph(MEANING), worst])

    def _counted(self) -> Iterator[tuple[str, list[str]]]:
        """The lines of a table of counts."""
        for order, found in self.orders.items():
            yield _attributes(order), _cells(found)
        if self.named:
            yield "named", _cells(counts(self.named))

    @property
    def by_model(self) -> str | None:
        """How the pairs that are poor or not readable usually read by the method ``model``, in a few words; None if unknown.

        Measured on real tables, not promised.
        """
        lost = [t.model for t in self.tables if len(t.attributes) == 2 and t.level in ("poor", "not readable")]
        levels = [level_of(model[0]) for model in lost if model is not None]
        if not levels:
            return None
        found = {level: levels.count(level) for level in LEVELS}
        return f"poor or unreadable pairs, by method 'model', usually (not promised): {_listed(found)}"

    def _extremes(self) -> Iterator[str]:
        """The best and the worst by name; no table is both."""
        ranked = self.ranked
        half = min(MOST_NAMED, (len(ranked) + 1) // 2)
        for word, several in (("best", ranked[:half]), ("worst", ranked[half:][: -MOST_NAMED - 1 : -1])):
            if several:
                first, *others = several
                texts = [f"{first.name} (error {error_text(first)})", *(f"{t.name} ({error_text(t)})" for t in others)]
                yield f"{word}: {', '.join(texts)}"


def counts(tables: Iterable[Reading]) -> dict[str, int]:
    """How many of some tables read how, best level first."""
    found = Counter(table.level for table in tables)
    return {level: found[level] for level in LEVELS}


def _listed(found: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {level}" for level, count in found.items() if count)


def _cells(found: Mapping[str, int]) -> list[str]:
    return [f"{number:,}" for number in (sum(found.values()), *found.values())]


def _attributes(number: int) -> str:
    words = {1: "one attribute", 2: "two attributes", 3: "three attributes"}
    return words.get(number, f"{number:,} attributes")


def readable(
    predictor: Predictor, records: int, names: Sequence[str], tables: Iterable[Sequence[str] | str] = ()
) -> Readability:
    """How every table of one and two of the attributes ``names``, and each of ``tables``, reads in a release of ``records`` rows."""
    every = [reading_of(predictor, records, table) for size in (1, 2) for table in itertools.combinations(names, size)]
    known = {frozenset(table.attributes): table for table in every}
    named = []
    for table in tables:
        wanted = (table,) if isinstance(table, str) else tuple(table)
        key = frozenset(wanted)
        if key not in known or len(wanted) != len(key):
            reading = reading_of(predictor, records, wanted)
            known[key] = reading
            every.append(reading)
        if known[key] not in named:
            named.append(known[key])
    return Readability(records, tuple(every), tuple(named))


def served(
    predictor: Predictor, records: int, names: Sequence[str], workload: int | str | Iterable[tuple[str, ...]] | None
) -> Readability:
    """How the tables of a ``workload`` read: a number of attributes, "full", or tables; of one and two where there is none."""
    tables: Iterable[tuple[str, ...]]
    if workload == "full":
        tables = [tuple(names)]
    elif workload is None or isinstance(workload, int | str):
        most = workload if isinstance(workload, int) else 2
        tables = [table for size in _sizes(len(names), most) for table in itertools.combinations(names, size)]
    else:
        tables = list(workload)
    return Readability(records, tuple(reading_of(predictor, records, table) for table in tables))


def _sizes(attributes: int, most: int) -> list[int]:
    """1 to ``most``, as far as there are not too many tables."""
    sizes = range(1, min(most, attributes) + 1)
    totals = itertools.accumulate(math.comb(attributes, size) for size in sizes)
    return [size for size, total in zip(sizes, totals) if size <= 2 or total <= MOST_SERVED]
