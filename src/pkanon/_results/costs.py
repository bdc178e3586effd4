"""What privacy costs: the error of some tables against k and against the number of records, for every design."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl
from numpy.typing import ArrayLike

from .._blocks import TransitionMatrix
from .._design import DESIGNS, FloorLike, WorkloadLike, check_k, check_records, named_tables, plan
from .._errors import InputError, TargetError, did_you_mean
from .._plan import Number, exact
from .._progress import Progress
from .._schema import Schema
from .chart_data import Point
from .tabular import Tabular, json_rows
from .text import TextTable

if TYPE_CHECKING:
    import altair


@dataclass(frozen=True)
class Tradeoff(Tabular):
    """How the error of some tables depends on k and on the number of records, one line per design.

    Attributes
    ----------
    tables
        The cross-tabulations whose errors are averaged.
    points
        One record per design, k and number of records, in the order of ``to_polars()``.

    Examples
    --------
    >>> import pkanon as pk
    >>> schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("rooms", 1, 5)])
    >>> costs = pk.tradeoff(schema, records=1_000, k=20, designs=["equal-rho"])
    >>> errors = costs.to_polars().filter(varied="k")["l1"]
    >>> errors.is_sorted()  # the larger k, the larger the error
    True
    """

    tables: tuple[tuple[str, ...], ...]
    points: tuple[Point, ...] = field(repr=False)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The table in polars."""
        return pl.DataFrame([asdict(point) for point in self.points])

    def to_polars(self) -> pl.DataFrame:
        """Columns: design, varied (k or records), k, records, epsilon, l1 and standard_error (means over the tables)."""
        return self.frame

    def to_json(self) -> dict[str, Any]:
        """The table and what it is of."""
        return {"tables": [list(table) for table in self.tables], "points": json_rows(self.frame)}

    def text_table(self, most: int | None = None) -> TextTable:
        """The table for people to read; its first ``most`` rows."""
        points = self.points[:most]
        rows = [
            [
                p.design,
                f"{p.k:,.6g}",
                f"{p.records:,}",
                f"{p.epsilon:.3f}",
                *map(_digits, (p.l1, 100 * p.standard_error)),
            ]
            for p in points
        ]
        header = ["design", "k", "records", "epsilon", "error (L1)", "error of a cell, % of all"]
        return TextTable(header, rows, [True, *[False] * 5], len(self.points) - len(points))

    def _captions(self) -> list[str]:
        tables = len(self.tables)
        return [f"Predicted errors, means over {tables:,} table{'s' * (tables != 1)}. Above 1 nothing can be read."]

    def __repr__(self) -> str:
        return f"<Tradeoff of {len(self.tables):,} tables: {len(self.points):,} points>"

    def chart(self) -> altair.TopLevelMixin:
        """Error against k, and against the number of records."""
        from .charts import tradeoff_chart

        return tradeoff_chart(self.points, ", ".join(" x ".join(table) for table in self.tables))


def tradeoff(
    schema: Schema,
    *,
    records: int,
    k: Number,
    tables: Sequence[Sequence[str]] | None = None,
    designs: Sequence[str] = DESIGNS,
    workload: WorkloadLike = 2,
    weighting: str = "relative",
    floor: FloorLike = 3,
    matrices: Mapping[str, TransitionMatrix | ArrayLike] | None = None,
    hide_count: Number | None = None,
    progress: Progress | None = None,
) -> Tradeoff:
    """What privacy costs: errors for k from 2 up with ``records`` rows, and for more and fewer rows with ``k``.

    Parameters
    ----------
    schema
        The table to be released.
    records, k
        The point from which k, then the number of records, is varied.
    tables
        The cross-tabulations whose errors are averaged; all of one and two attributes by default.
    designs
        The designs to compare.
    workload, weighting, floor
        What an optimal design serves, as in :func:`plan`; the other designs do without.
    matrices, hide_count
        As in :func:`plan`, for every design.
    progress
        Called with the name of a step and the share of it that is done.

    Examples
    --------
    >>> import pkanon as pk
    >>> schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("rooms", 1, 5)])
    >>> costs = pk.tradeoff(schema, records=5_000, k=20, tables=[("sex", "rooms")], designs=["equal-rho"])
    >>> costs.to_polars()["varied"].unique(maintain_order=True).to_list()
    ['k', 'records']
    """
    for design in designs:
        if design not in DESIGNS:
            raise InputError(f"The design '{design}' is unknown. {did_you_mean(str(design), DESIGNS)}")
    check_records(records)
    least = exact(k, "k", up=True)
    check_k(least, records)
    names = [attribute.name for attribute in schema.randomised]
    averaged = named_tables(schema, tables or []) or [
        *((name,) for name in names),
        *((a, b) for i, a in enumerate(names) for b in names[i + 1 :]),
    ]
    settings = [("k", value, records) for value in _steps(2, records / 2)]
    settings += [
        ("records", float(least), round(n)) for n in _steps(max(2 * float(least), records / 100), records * 100)
    ]
    points = []
    for done, (varied, k_here, records_here) in enumerate(settings):
        for design in designs:
            try:
                candidate = plan(
                    schema,
                    records=records_here,
                    k=f"{k_here:.6g}",
                    design=design,
                    workload=workload,
                    weighting=weighting,
                    floor=floor,
                    matrices=matrices,
                    hide_count=hide_count,
                )
            except TargetError:
                continue  # not every design reaches every target
            predictions = [candidate.predict(*table) for table in averaged]
            points.append(
                Point(
                    design=design,
                    varied=varied,
                    k=k_here,
                    records=records_here,
                    epsilon=candidate.epsilon,
                    l1=sum(p.l1 for p in predictions) / len(predictions),
                    standard_error=sum(p.standard_error for p in predictions) / len(predictions),
                )
            )
        if progress is not None:
            progress("drawing", (done + 1) / len(settings))
    return Tradeoff(tuple(averaged), tuple(points))


def _steps(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, ... times a power of ten between two bounds."""
    steps = [
        digit * 10.0**power
        for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        for digit in (1, 2, 5)
    ]
    return [value for value in steps if low <= value <= high]


def _digits(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"
