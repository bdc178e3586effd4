"""The cells of a table, as charts need them.

Altair gives meaning to dots, brackets, colons and quotes in a column's name, and takes a title from it. So attributes
become ``a0``, ``a1``, ``a2`` and their names appear as titles only. Every chart states the
declared order of labels, as Altair would otherwise sort them by alphabet.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np

from ..._estimate import FLAG_MEANING
from ..chart_data import Grid
from ..columns import interval_title
from ..paper import MARKS
from .style import CHARACTER, COUNT, finite

CLEAR, NEAR, SMALL = "clear of zero", "cannot be told from zero", "small group"
MARKED = {word: MARKS[word] for word in ("predicted error", "small group", "out of range", "model differs")}
"""Flags that are shown by a mark. Cells near zero are pale or hollow, and impossible ones have none or a cross."""


@dataclass(frozen=True)
class Cells:
    """Rows with safe field names, the labels of each attribute in order, the level of the intervals, and what is counted.

    ``ordered``, ``apart`` and ``title`` are those of :class:`Grid`.
    """

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    rows: list[dict[str, Any]]
    level: float
    measure: str
    title: str
    ordered: tuple[bool, ...]
    apart: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, grid: Grid) -> Cells:
        numbers = {
            "estimate": grid.estimate,
            "std_error": grid.standard_error,
            "low": grid.low,
            "high": grid.high,
            "share": grid.share,
            "released": grid.released,
        }
        columns = [[finite(value) for value in np.ravel(array).tolist()] for array in numbers.values()]
        places = itertools.product(*grid.labels)
        rows = []
        for place, flag, *values in zip(places, grid.flags, *columns):
            row: dict[str, Any] = {f"a{i}": label for i, label in enumerate(place)}
            row |= dict(zip(numbers, values)) | {"flag": flag}
            row["status"] = SMALL if SMALL in (flag or "") else NEAR if "near zero" in (flag or "") else CLEAR
            row["marks"] = "".join(mark for word, mark in MARKED.items() if word in (flag or ""))
            row["anchor"] = row["high"] if row["estimate"] is None else row["estimate"]
            row["impossible"] = flag == "impossible"
            row["relative_error"] = _relative(row["std_error"], row["estimate"])
            rows.append(row)
        title = grid.title or " x ".join(grid.names)
        return cls(grid.names, grid.labels, rows, grid.level, grid.measure, title, grid.ordered, grid.apart)

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

    @property
    def notes(self) -> list[str]:
        """What the marks of flags mean that are shown."""
        seen = {mark for row in self.rows for mark in row["marks"]}
        return [f"{mark} {word}: {FLAG_MEANING[word]}." for word, mark in MARKED.items() if mark in seen]

    def width(self, axis: int) -> float:
        """Pixels that the longest label of an attribute takes."""
        return CHARACTER * max(map(len, self.labels[axis]))

    def tooltip(self) -> list[alt.Tooltip]:
        """Everything known about a cell."""
        number: dict[str, Any] = {"type": "quantitative", "format": ",.1f"}
        fields: list[tuple[str, str, dict[str, Any]]] = [
            *((f"a{i}", name, {"type": "nominal"}) for i, name in enumerate(self.names)),
            ("estimate", "estimate", number),
            ("std_error", "standard error", number),
            ("low", f"{interval_title(self.level)} from", number),
            ("high", f"{interval_title(self.level)} to", number),
            ("share", "share", {"type": "quantitative", "format": ".2%"}),
            ("released", "released rows", {"type": "quantitative", "format": COUNT}),
            ("flag", "note", {"type": "nominal"}),
        ]
        return [alt.Tooltip(field=field, title=title, **more) for field, title, more in fields]


def _relative(error: float | None, estimate: float | None) -> float:
    """The error as a share of the estimate, 1 at most: beyond, a cell says nothing about its size."""
    if error is None or estimate is None or estimate <= error:
        return 1.0 if error != 0 else 0.0
    return error / estimate
