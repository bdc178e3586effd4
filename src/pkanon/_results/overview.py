"""Statistics of many attributes at once: descriptions, and how all pairs of attributes are related."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from .._errors import InputError
from .._estimate import Measure, Quantile, Quantity, cramers_v
from .._frames import with_missing_label
from .._progress import Progress
from .._schema import MISSING_LABEL, MissingAnswers
from .chart_data import MEASURES, Pair
from .columns import Columns, free_names, interval_title, merged_remark, sentence
from .estimate import Estimate
from .paper import Cell, PaperTable, check_layout, number_cell
from .tabular import Tabular, json_rows
from .text import TextTable, interval_text, with_error

if TYPE_CHECKING:
    import altair

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)

TableOf = Callable[..., Estimate]
"""Makes the table of the attributes named."""


@dataclass(frozen=True)
class Description(Tabular):
    """Mean, deviation, sum and quantiles of numeric attributes, one row each.

    Attributes
    ----------
    method, about, level
        How the numbers were made, what their errors are about, and the level of their intervals.
    by
        The attributes whose groups are described apart.
    missing
        Whether missing answers are a ``category`` of the groups, or people without an answer are left out (``exclude``).
    merged
        The groups of values that were asked for, by attribute.
    caption
        The same in one line.
    frame
        The table in polars.
    remarks
        What its readers must know beside its errors, a sentence each.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> plan = pk.plan(pk.Schema([pk.Attribute.ranged("rooms", 1, 5)]), records=1_000, k=20)
    >>> release = pk.release(pl.DataFrame({"rooms": [1, 2, 2, 3, 4] * 200}), plan)
    >>> release.describe("rooms").to_polars()["statistic"].to_list()[:4]
    ['mean', 'deviation', 'sum', 'quantile_0.05']
    """

    method: str
    about: str
    level: float
    by: tuple[str, ...]
    caption: str
    frame: pl.DataFrame = field(repr=False)
    missing: MissingAnswers = "category"
    merged: Mapping[str, Mapping[str, list[str]]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    def columns(self) -> Columns:
        """The names of the columns that hold numbers."""
        return Columns.of("value", self.level)

    def to_polars(self, *, missing_label: str | None = MISSING_LABEL) -> pl.DataFrame:
        """Columns: the groups, attribute, statistic, value, std_error, limits and a flag.

        ``missing_label`` stands for the missing answers of groups; None writes null.
        """
        return with_missing_label(self.frame, self.by, missing_label)

    def to_json(self) -> dict[str, Any]:
        """The table and how it was made."""
        return {
            "method": self.method,
            "about": self.about,
            "level": self.level,
            "by": list(self.by),
            "missing": self.missing,
            "merged": dict(self.merged),
            "remarks": list(self.remarks),
            "statistics": json_rows(self.to_polars()),
        }

    def text_table(self, most: int | None = None) -> TextTable:
        """The table for people to read: each number as "value ± standard error"; its first ``most`` rows."""
        frame = self.frame if most is None else self.frame.head(most)
        rows = []
        for row in with_missing_label(frame, self.by, MISSING_LABEL).to_dicts():
            value, error, low, high = (row[name] for name in self.columns())
            groups = [row[name] for name in self.by]
            number = [with_error(value, error), interval_text(low, high, error), row["flag"] or ""]
            rows.append([*groups, row["attribute"], row["statistic"].replace("_", " "), *number])
        header = [*self.by, "attribute", "statistic", "value", interval_title(self.level), ""]
        left = [*[True] * (len(self.by) + 2), False, False, True]
        return TextTable(header, rows, left, self.frame.height - frame.height)

    def _captions(self) -> list[str]:
        return [
            f"{self.caption[:1].upper()}{self.caption[1:]}.",
            "A bin counts as its middle, an open one as wide as its neighbour.",
            *(remark[:1].upper() + remark[1:] for remark in self.remarks),
        ]

    def paper(self, *, layout: str = "cross", interval: bool = False, caption: str | None = None) -> PaperTable:
        """The table as a paper has it: rounded to the digits of the errors, with a caption and notes.

        Parameters
        ----------
        layout
            ``cross``: a column for each statistic. ``long``: a row for each number.
        interval
            Show intervals instead of standard errors.
        caption
            What is shown; said by itself if not set.
        """
        statistics = list(self.frame["statistic"].unique(maintain_order=True))
        rows: dict[tuple[str, ...], list[Cell]] = {}
        for row in self.frame.to_dicts():
            value, error, *limits = (row[name] for name in self.columns())
            place = (*(MISSING_LABEL if row[name] is None else row[name] for name in self.by), row["attribute"])
            if check_layout(layout) == "long":
                place = (*place, _statistic(row["statistic"]))
            rows.setdefault(place, []).append(
                number_cell(value, error, (limits[0], limits[1]), row["flag"], interval=interval)
            )
        long = layout == "long"
        attributes = " and ".join(dict.fromkeys(self.frame["attribute"].to_list()))
        by = f" by {' and '.join(self.by)}" if self.by else ""
        shown = f"and {interval_title(self.level)}" if interval else "± standard error"
        return PaperTable(
            caption=caption or f"Mean, standard deviation, sum and quantiles of {attributes}{by} (estimate {shown})",
            stub=(*self.by, "attribute", *(["statistic"] if long else [])),
            header=("value",) if long else tuple(map(_statistic, statistics)),
            rows=tuple((*map(Cell, place), *cells) for place, cells in rows.items()),
            notes=(
                *self._captions(),
                "Rounded to two digits of the standard error; a number without one has the interval of a single value.",
            ),
            numbers=self.frame,
        )

    def __repr__(self) -> str:
        attributes = ", ".join(self.frame["attribute"].unique(maintain_order=True))
        return f"<Description of {attributes}{' by ' if self.by else ''}{' x '.join(self.by)}>"


def describe(
    table_of: TableOf, attributes: Sequence[str], by: Sequence[str], level: float, progress: Progress
) -> Description:
    """Statistics of ``attributes`` (numeric ones), within each group of ``by``."""
    rows: list[dict[str, Any]] = []
    excluded: dict[str, None] = {}
    made: dict[str, None] = {}
    names = Columns.of("value", level)
    groups_by = free_names(by, ("attribute", "statistic", *names, "flag"))
    for done, name in enumerate(attributes):
        progress("describing", done / len(attributes))
        if name in by:
            raise InputError(f"'{name}' cannot be both described and grouped by; leave it out of one of the two.")
        table = table_of(name, *by)
        excluded |= dict.fromkeys(table.excluded)
        made |= dict.fromkeys(table.notes)
        groups = [[(n, label) for label in table.labels[table.names.index(n)]] for n in by]
        for group in itertools.product(*groups):
            where = dict(group)
            for statistic, number in _statistics(table, name, where).items():
                low, high = number.interval(level)
                rows.append(
                    {groups_by[n]: None if label is None else str(label) for n, label in group}
                    | {"attribute": name, "statistic": statistic}
                    | dict(zip(names, (number.value, number.standard_error, low, high)))
                    | {"flag": number.flag(level)}
                )
    frame = pl.DataFrame(rows, infer_schema_length=None, schema_overrides={"flag": pl.String})
    grouped = [attribute for attribute in table.attributes if attribute.name in by]
    merged = {name: groups for name, groups in table.merged.items() if name in by}
    remarks = [
        table.plain_caption(level, numbers="statistics"),
        *([merged_remark(merged)] if merged else []),
        *([f"people without an answer to what is described are left out: {', '.join(excluded)}"] if excluded else []),
        *(["missing answers are a group"] if any(a.missing_code is not None for a in grouped) else []),
    ]
    return Description(
        table.method,
        table.about,
        level,
        tuple(groups_by.values()),
        "; ".join(remarks),
        frame.fill_nan(None),
        table.missing,
        merged,
        tuple(made),
    )


def _statistic(name: str) -> str:
    """The name of a statistic for people to read."""
    return {"deviation": "std. deviation", "quantile_0.5": "median"}.get(name, name.replace("_", " "))


def _statistics(table: Estimate, name: str, where: dict[str, Any]) -> dict[str, Quantity | Quantile]:
    """All statistics of one attribute in one group."""
    return {
        "mean": table.mean(name, where),
        "deviation": table.deviation(name, where),
        "sum": table.sum(name, where),
    } | {f"quantile_{q:g}": table.quantile(name, q, where) for q in QUANTILES}


@dataclass(frozen=True)
class Correlations(Tabular):
    """How all pairs of attributes are related: Pearson's correlation of two numeric ones, else Cramer's V.

    Attributes
    ----------
    names
        The attributes.
    level
        The confidence level of the intervals.
    pairs
        One record per pair, in the order of ``to_polars()``.
    missing
        Whether missing answers are a ``category`` in Cramer's V, or people without an answer are left out of a pair
        (``exclude``). Correlations leave them out in any case.
    merged
        The groups of values that were asked for, by attribute. Merged attributes have Cramer's V.
    weighted, weights, weight_error
        Whether rows count by a survey weight, the randomised attribute that is the weight, and by which share its bins may shift
        totals.
    remark
        All of this in a sentence or two; empty if there is nothing to say.
    remarks
        What its readers must know beside its errors, a sentence each.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> people = pl.DataFrame({"smokes": ["no", "yes"] * 500, "coughs": ["no", "yes"] * 500})
    >>> schema = pk.Schema([pk.Attribute(name, ["no", "yes"]) for name in people.columns])
    >>> release = pk.release(people, pk.plan(schema, records=1_000, k=20), randomness=pk.Seeded(7))
    >>> release.correlations().to_polars()["high_95"].item()  # the two columns are the same
    1.0
    """

    names: tuple[str, ...]
    level: float
    pairs: tuple[Pair, ...] = field(repr=False)
    missing: MissingAnswers = "category"
    merged: Mapping[str, Mapping[str, list[str]]] = field(default_factory=dict)
    weighted: bool = False
    weights: str | None = None
    weight_error: float | None = None
    remark: str = ""
    remarks: tuple[str, ...] = ()

    def columns(self) -> Columns:
        """The names of the columns that hold numbers."""
        return Columns.of("value", self.level)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The table in polars."""
        names = self.columns()
        rows: list[dict[str, Any]] = [
            {"first": pair.first, "second": pair.second, "measure": pair.measure}
            | dict(zip(names, (pair.value, pair.standard_error, pair.low, pair.high)))
            | {"flag": pair.flag}
            for pair in self.pairs
        ]
        return pl.DataFrame(rows, infer_schema_length=None, schema_overrides={"flag": pl.String}).fill_nan(None)

    def to_polars(self) -> pl.DataFrame:
        """Columns: first, second, measure, value, std_error, limits and a flag; one row per pair."""
        return self.frame

    def to_json(self) -> dict[str, Any]:
        """The table and how it was made."""
        made: dict[str, Any] = {"level": self.level, "missing": self.missing, "merged": dict(self.merged)}
        made |= {"weighted": self.weighted, "weights": self.weights, "weight_error": self.weight_error}
        return {"attributes": list(self.names), **made, "remarks": list(self.remarks), "pairs": json_rows(self.frame)}

    def text_table(self, most: int | None = None) -> TextTable:
        """The table for people to read: each number as "value ± standard error"; its first ``most`` rows."""
        pairs = self.pairs[:most]
        rows = [
            [
                pair.first,
                pair.second,
                MEASURES[pair.measure],
                with_error(pair.value, pair.standard_error),
                interval_text(pair.low, pair.high, pair.standard_error),
                pair.flag or "",
            ]
            for pair in pairs
        ]
        header = ["first", "second", "measure", "value", interval_title(self.level), ""]
        return TextTable(header, rows, [True, True, True, False, False, True], len(self.pairs) - len(pairs))

    def _captions(self) -> list[str]:
        return [
            "Pearson's correlation of two numeric attributes, Cramer's V of all others, in the population that the "
            "people were sampled from.",
            *([self.remark] if self.remark else []),
            *(remark[:1].upper() + remark[1:] for remark in self.remarks),
        ]

    def paper(self, *, layout: str = "cross", interval: bool = False, caption: str | None = None) -> PaperTable:
        """The table as a paper has it: rounded to the digits of the errors, with a caption and notes.

        Parameters
        ----------
        layout
            ``cross``: the lower half of the matrix. ``long``: a row for each pair.
        interval
            Show intervals instead of standard errors.
        caption
            What is shown; said by itself if not set.
        """
        long = check_layout(layout) == "long"
        cells = {
            (pair.first, pair.second): number_cell(
                pair.value, pair.standard_error, (pair.low, pair.high), pair.flag, interval=interval
            )
            for pair in self.pairs
        }
        if long:
            rows: list[tuple[Cell, ...]] = [
                (Cell(pair.first), Cell(pair.second), Cell(MEASURES[pair.measure]), cells[pair.first, pair.second])
                for pair in self.pairs
            ]
        else:
            rows = [
                (Cell(name), *(cells[other, name] if place < row else Cell("") for place, other in enumerate(columns)))
                for columns in [self.names[:-1]]
                for row, name in enumerate(self.names)
                if row > 0
            ]
        shown = f"and {interval_title(self.level)}" if interval else "± standard error"
        return PaperTable(
            caption=caption or f"Correlations of {len(self.names)} attributes (estimate {shown})",
            stub=("first", "second", "measure") if long else ("",),
            header=("value",) if long else self.names[:-1],
            rows=tuple(rows),
            notes=(
                *self._captions(),
                *([f"Numeric attributes: {', '.join(self._numeric)}."] if self._numeric else []),
                "Rounded to two digits of the standard error; numbers without an error are exact.",
            ),
            numbers=self.frame,
        )

    @property
    def _numeric(self) -> list[str]:
        """The attributes of which a correlation was taken."""
        found = {name for pair in self.pairs if pair.measure == "correlation" for name in (pair.first, pair.second)}
        return [name for name in self.names if name in found]

    def __repr__(self) -> str:
        return f"<Correlations of {len(self.names)} attributes: {len(self.pairs):,} pairs>"

    def matrix(self) -> list[list[float | None]]:
        """All values as a symmetric matrix with ones on the diagonal; None where nothing can be said."""
        values = {(pair.first, pair.second): None if math.isnan(pair.value) else pair.value for pair in self.pairs}
        values |= {(second, first): value for (first, second), value in values.items()}
        return [[1.0 if a == b else values[a, b] for b in self.names] for a in self.names]

    def chart(self) -> altair.TopLevelMixin:
        """A heat map of the matrix."""
        from .charts import correlation_chart

        return correlation_chart(self.pairs, self.level, self.remark)


def correlate(table_of: TableOf, numeric: dict[str, bool], level: float, progress: Progress) -> Correlations:
    """All pairs of the attributes in ``numeric``, which says of each whether its values are numbers."""
    if len(numeric) < 2:
        raise InputError("A correlation matrix needs at least two attributes.")
    names = list(itertools.combinations(numeric, 2))
    pairs = []
    merged: dict[str, dict[str, list[str]]] = {}
    as_category: set[str] = set()
    left_out: set[str] = set()
    for done, (first, second) in enumerate(names):
        table = table_of(first, second)
        merged |= table.merged
        grouped = {name for name, groups in table.merged.items() if set(groups) != {MISSING_LABEL}}
        both = all(numeric[name] and name not in grouped for name in (first, second))
        absent = {attribute.name for attribute in table.attributes if attribute.missing_code is not None}
        (left_out if both else as_category).update(absent)
        left_out.update(table.excluded)
        number: Quantity | Measure
        try:
            number = table.correlation(first, second) if both else cramers_v(table)
        except InputError:  # nothing can be said of this pair; the others are kept
            number = Measure(math.nan, math.nan)
        low, high = number.interval(level) if math.isfinite(number.value) else (math.nan, math.nan)
        measure = "correlation" if both else "cramers_v"
        flag = number.flag(level) if isinstance(number, Quantity) else None
        pairs.append(Pair(first, second, measure, number.value, number.standard_error, low, high, flag))
        progress("correlating", (done + 1) / len(names))
    remarks = [
        *([sentence(table.weighting)] if table.weighted else []),
        *([sentence(merged_remark(merged))] if merged else []),
        *(["Missing answers are a category in Cramer's V."] if as_category else []),
        *(["People without an answer are left out of a pair."] if left_out and not as_category else []),
        *(["Correlations leave out people without an answer."] if left_out and as_category else []),
    ]
    return Correlations(
        tuple(numeric),
        level,
        tuple(pairs),
        table.missing,
        merged,
        table.weighted,
        None if table.weighing is None else table.weighing.attribute.name,
        None if table.weighing is None else table.weight_error,
        " ".join(remarks),
    )
