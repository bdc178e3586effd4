"""Statistics of many attributes at once: descriptions, and how all pairs of attributes are related."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from .._errors import InputError
from .._estimate import Measure, Quantile, Quantity, cramers_v
from .._progress import Progress
from .estimate import Estimate
from .tabular import Tabular, free_names, json_rows

if TYPE_CHECKING:
    import altair

SMALL = 4.0
"""A group whose size is below so many of its standard errors: nothing said of the people in it is worth much."""
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)

TableOf = Callable[..., Estimate]
"""Makes the table of the attributes named."""


@dataclass(frozen=True)
class Description(Tabular):
    """Mean, deviation, sum and quantiles of numeric attributes, one row each; ``rows`` also hold the groups."""

    method: str
    about: str
    level: float
    by: tuple[str, ...]
    caption: str
    frame: pl.DataFrame = field(repr=False)

    def to_polars(self, *args: Any, **kwargs: Any) -> pl.DataFrame:
        """Columns: the groups, attribute, statistic, value, std_error, limits and a flag where a group is small."""
        return self.frame

    def to_json(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The table and how it was made."""
        return {
            "method": self.method,
            "about": self.about,
            "level": self.level,
            "by": list(self.by),
            "statistics": json_rows(self.frame),
        }


def describe(table_of: TableOf, attributes: Sequence[str], by: Sequence[str], level: float) -> Description:
    """Statistics of ``attributes`` (numeric ones), within each group of ``by``."""
    rows: list[dict[str, Any]] = []
    percent = f"{100 * level:g}"
    taken = ("attribute", "statistic", "value", "std_error", f"low_{percent}", f"high_{percent}", "flag")
    columns = free_names(by, taken)
    for name in attributes:
        if name in by:
            raise InputError(f"'{name}' cannot be described by itself; leave it out of one of both.")
        table = table_of(name, *by)
        groups = [[(n, label) for label in table.labels[table.names.index(n)]] for n in by]
        for group in itertools.product(*groups):
            where = dict(group)
            people = table.count(where)
            small = people.value < SMALL * people.standard_error
            statistics: dict[str, Quantity | Quantile] = {
                "mean": table.mean(name, where),
                "deviation": table.deviation(name, where),
                "sum": table.sum(name, where),
            }
            for q in QUANTILES:
                statistics[f"quantile_{q:g}"] = table.quantile(name, q, where)
            for statistic, found in statistics.items():
                low, high = found.interval(level)
                rows.append(
                    {columns[n]: None if label is None else str(label) for n, label in group}
                    | {
                        "attribute": name,
                        "statistic": statistic,
                        "value": found.value,
                        "std_error": found.standard_error,
                        f"low_{percent}": low,
                        f"high_{percent}": high,
                        "flag": "small group" if small else None,
                    }
                )
    frame = pl.DataFrame(rows, infer_schema_length=None, schema_overrides={"flag": pl.String})
    return Description(
        table.method, table.about, level, tuple(columns.values()), table.caption(level), frame.fill_nan(None)
    )


@dataclass(frozen=True)
class Correlations(Tabular):
    """How all pairs of attributes are related: Pearson's correlation of two numeric ones, else Cramer's V."""

    names: tuple[str, ...]
    level: float
    frame: pl.DataFrame = field(repr=False)

    def to_polars(self, *args: Any, **kwargs: Any) -> pl.DataFrame:
        """Columns: first, second, measure, value, std_error and limits; one row per pair."""
        return self.frame

    def to_json(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The table and how it was made."""
        return {"attributes": list(self.names), "level": self.level, "pairs": json_rows(self.frame)}

    def matrix(self) -> list[list[float]]:
        """All values as a symmetric matrix with ones on the diagonal."""
        values = {(row["first"], row["second"]): row["value"] for row in self.frame.to_dicts()}
        values |= {(second, first): value for (first, second), value in values.items()}
        return [[1.0 if a == b else values[a, b] for b in self.names] for a in self.names]

    def chart(self) -> altair.TopLevelMixin:
        """A heat map of the matrix."""
        from .charts import correlation_chart

        return correlation_chart(self.frame, "Pearson's correlation of numeric attributes, Cramer's V of all others")


def correlate(table_of: TableOf, numeric: dict[str, bool], level: float, progress: Progress) -> Correlations:
    """All pairs of the attributes in ``numeric``, which says of each whether its values are numbers."""
    if len(numeric) < 2:
        raise InputError("A correlation matrix needs at least two attributes.")
    pairs = list(itertools.combinations(numeric, 2))
    rows = []
    percent = f"{100 * level:g}"
    for done, (first, second) in enumerate(pairs):
        table = table_of(first, second)
        both = numeric[first] and numeric[second]
        found: Quantity | Measure
        try:
            found = table.correlation(first, second) if both else cramers_v(table)
        except InputError:  # nothing can be said of this pair; the others are not to blame
            found = Measure(math.nan, math.nan)
        low, high = found.interval(level) if math.isfinite(found.value) else (math.nan, math.nan)
        rows.append(
            {
                "first": first,
                "second": second,
                "measure": "correlation" if both else "cramers_v",
                "value": found.value,
                "std_error": found.standard_error,
                f"low_{percent}": low,
                f"high_{percent}": high,
            }
        )
        progress("correlating", (done + 1) / len(pairs))
    return Correlations(tuple(numeric), level, pl.DataFrame(rows).fill_nan(None))
