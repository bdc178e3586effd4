"""The cells of a table, as charts need them.

Altair gives meaning to dots, brackets, colons and quotes in a column's name, and takes a title from it.
So attributes become ``a0``, ``a1``, ``a2`` and their names appear as titles only. Labels become texts in the
order in which they were declared, which is the order of a table's rows; charts are told that order, as they
would otherwise sort by alphabet.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import altair as alt
import polars as pl

Chart: TypeAlias = alt.LayerChart | alt.FacetChart
MISSING = "(missing)"
INK, PALE_INK, GRID = "#333333", "#666666", "#dddddd"
CLEAR, NEAR = "clear of zero", "cannot be told from zero"
COUNT = ",~f"
"""Thousands separators, decimals where there are any, never an exponent."""
CHARACTER = 6.2
"""Pixels that a character of a label takes on average, at 11 pixels of height."""
_LINE = 5.1
"""The same for the caption, whose lines are long enough to be close to the average."""


@dataclass(frozen=True)
class Cells:
    """Rows with safe field names, the labels of each attribute in order, the level of the intervals, and what is counted."""

    names: tuple[str, ...]
    labels: tuple[list[str], ...]
    rows: list[dict[str, Any]]
    level: str
    measure: str = "people"

    @classmethod
    def of(cls, frame: pl.DataFrame, names: Sequence[str], measure: str = "people") -> Cells:
        results = [name for name in frame.columns if name not in names]
        low, high = (next(name for name in results if name.startswith(start)) for start in ("low_", "high_"))
        columns: dict[str, list[Any]] = {f"a{i}": _texts(frame[name]) for i, name in enumerate(names)}
        labels = tuple(list(dict.fromkeys(texts)) for texts in columns.values())
        for field, source in (
            ("estimate", "estimate"),
            ("std_error", "std_error"),
            ("low", low),
            ("high", high),
            ("share", "proportion"),
            ("released", "released"),
            ("flag", "flag"),
        ):
            columns[field] = [finite(value) for value in frame[source].to_list()]
        rows = [dict(zip(columns, values)) for values in zip(*columns.values())]
        for row in rows:
            row["status"] = NEAR if "near zero" in (row["flag"] or "") else CLEAR
            row["impossible"] = row["flag"] == "impossible"
            row["relative_error"] = _relative(row["std_error"], row["estimate"])
        return cls(tuple(names), labels, rows, low.removeprefix("low_"), measure)

    @property
    def sizes(self) -> list[int]:
        """How many values each attribute has."""
        return [len(labels) for labels in self.labels]

    @property
    def data(self) -> alt.InlineData:
        """The rows themselves: limits on data frames do not apply to them."""
        return alt.InlineData(values=self.rows)

    @property
    def unclear(self) -> bool:
        """Whether a cell cannot be told from zero."""
        return any(row["status"] == NEAR for row in self.rows)

    def width(self, axis: int) -> float:
        """Pixels that the longest label of an attribute takes."""
        return CHARACTER * max(map(len, self.labels[axis]))

    def tooltip(self) -> list[alt.Tooltip]:
        """Everything known about a cell."""
        number: dict[str, Any] = {"type": "quantitative", "format": ",.1f"}
        shown: list[tuple[str, str, dict[str, Any]]] = [
            *((f"a{i}", name, {"type": "nominal"}) for i, name in enumerate(self.names)),
            ("estimate", "estimate", number),
            ("std_error", "standard error", number),
            ("low", f"{self.level}% interval from", number),
            ("high", f"{self.level}% interval to", number),
            ("share", "share", {"type": "quantitative", "format": ".2%"}),
            ("released", "released rows", {"type": "quantitative", "format": COUNT}),
            ("flag", "note", {"type": "nominal"}),
        ]
        return [alt.Tooltip(field=field, title=title, **more) for field, title, more in shown]


def heading(title: str, caption: str, notes: Sequence[str], width: float) -> alt.TitleParams:
    """A title with the caption and reading notes under it, in lines that fit ``width`` pixels."""
    room = int(min(max(width, 480), 900) / _LINE)
    return alt.TitleParams(
        text=_lines(title, int(room * 0.65)),
        subtitle=[line for text in (caption[:1].upper() + caption[1:], *notes) for line in _lines(text, room)],
        anchor="start",
        frame="bounds",
        fontSize=15,
        subtitleFontSize=11,
        subtitleLineHeight=14,
        subtitlePadding=5,
        subtitleColor=PALE_INK,
        offset=14,
    )


def _lines(text: str, room: int) -> list[str]:
    """As few lines as fit, and of similar length: no lonely last word."""
    lines = textwrap.wrap(text, room, break_on_hyphens=False)
    for narrower in range(len(text) // max(len(lines), 1) + 1, room):
        even = textwrap.wrap(text, narrower, break_on_hyphens=False)
        if len(even) <= len(lines):
            return even
    return lines


def axis(**more: Any) -> alt.Axis:
    """An axis in the style of all charts; labels are cut where they would take over the chart."""
    style: dict[str, Any] = {
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titlePadding": 8,
        "labelLimit": 260,
        "gridColor": GRID,
        "domainColor": PALE_INK,
        "tickColor": PALE_INK,
    }
    return alt.Axis(**(style | more))


def powers(field: str, title: str, values: Sequence[float]) -> alt.Y:
    """A log scale between whole powers of ten, with room for all values."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return alt.Y(
        field=field,
        type="quantitative",
        title=title,
        scale=alt.Scale(type="log", domain=[10.0**low, 10.0 ** max(high, low + 1)], nice=False),
        axis=axis(
            values=[10.0**power for power in range(low, max(high, low + 1) + 1)],
            labelExpr="format(datum.value, datum.value >= 1 ? ',.0f' : '.8~f')",
        ),
    )


def panel(text: str) -> alt.TitleParams:
    """The title of one of several panels."""
    return alt.TitleParams(text=text, anchor="start", fontSize=12, fontWeight="normal", color=INK)


def order(labels: list[str]) -> dict[str, Any]:
    """Labels in this order. As a domain: a list under ``sort`` becomes one expression, which a thousand labels break."""
    return {"sort": None, "scale": alt.Scale(domain=labels)}


def legend(**more: Any) -> alt.Legend:
    """A legend in the style of all charts."""
    style: dict[str, Any] = {"labelFontSize": 11, "titleFontSize": 12, "labelLimit": 260, "titleLimit": 260}
    return alt.Legend(**(style | more))


def _texts(column: pl.Series) -> list[str]:
    texts = [None if value is None else _label(value) for value in column.to_list()]
    missing = MISSING if MISSING not in texts else "(no value)"  # someone declared that very label
    return [missing if text is None else text for text in texts]


def _label(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def finite(value: Any) -> Any:
    """A value as JSON can hold it: without infinities."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _relative(error: float | None, estimate: float | None) -> float:
    """The error as a share of the estimate, 1 at most: beyond, a cell says nothing about its size."""
    if error is None or estimate is None or estimate <= error:
        return 1.0 if error != 0 else 0.0
    return error / estimate


def dots(base: alt.Chart, names: Sequence[str], ranges: Mapping[Any, Sequence[str]], title: str) -> Any:
    """Points of several series, told apart by stroke, fill and shape (``ranges``), with one legend for all three."""
    box = legend(title=title, symbolSize=70, symbolStrokeWidth=1.8, columns=1)
    return base.mark_point(size=55, strokeWidth=1.8, opacity=1).encode(
        *(
            channel(
                field="series",
                type="nominal",
                sort=list(names),
                scale=alt.Scale(domain=list(names), range=list(values)),
                legend=box,
            )
            for channel, values in ranges.items()
        )
    )
