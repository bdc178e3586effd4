"""The values that are proposed for a column: a list, a range, or round bins.

Labels that differ in capitals or blanks only are proposed as one. Bins are round and open at both ends;
lists and ranges are what the data hold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from ..._errors import SchemaError
from ..._schema import Attribute
from .infer import Column
from .labels import near_equal
from .rounding import round_bins, round_dates

MOST_LISTED = 50
_MOST_COMPARED = 5000
_CLOSE_DATES = 62
"""Days: dates within this span are listed; months would hardly divide them."""


@dataclass(frozen=True)
class Merging:
    """A column whose near-equal labels are one, and the spellings that become each label."""

    column: Column
    spellings: dict[str, tuple[str, ...]]


def merging(column: Column) -> Merging:
    """The column with near-equal labels taken together."""
    if column.type != "text" or len(column.values) > _MOST_COMPARED:
        return Merging(column, {})
    spellings = near_equal(column.values, column.counts)
    if not spellings:
        return Merging(column, {})
    labels = {spelling: label for label, others in spellings.items() for spelling in others}
    table = pl.DataFrame({"value": column.values.replace(labels), "count": column.counts})
    together = table.group_by("value").agg(pl.col("count").sum()).sort("value")
    return Merging(replace(column, values=together["value"], counts=together["count"]), spellings)


def domain(merged: Merging) -> tuple[Attribute, str] | None:
    """The attribute with its proposed values, and how they are declared in words; None if there is no proposal."""
    column = merged.column
    if column.type == "text" and len(column.values) > MOST_LISTED:
        return None
    try:
        return _domain(column, merged.spellings)
    except (SchemaError, OverflowError, ValueError):  # such as bins beyond 64 bits or the year 9999
        return None


def _domain(column: Column, spellings: dict[str, tuple[str, ...]]) -> tuple[Attribute, str]:
    name, kind, values = column.name, column.type, column.values
    common: dict[str, Any] = {
        "missing": "value" if column.missing else "reject",
        "missing_values": column.missing_values,
    }
    if column.writing is not None:
        written = {key: getattr(column.writing, key) for key in ("date_format", "decimal", "thousands")}
        common |= {key: text for key, text in written.items() if text is not None}
    close = kind != "date" or (values[-1] - values[0]).days <= _CLOSE_DATES
    if len(values) <= MOST_LISTED and close:
        if kind == "integer" and len(values) > 1 and values[-1] - values[0] == len(values) - 1:
            return Attribute.ranged(name, values[0], values[-1], **common), "range"
        if spellings:
            common["merge"] = spellings
        return Attribute(name, values.to_list(), type=kind, **common), "list"
    low, high = _middle(column)
    if kind == "date":
        bins: dict[str, Any] = {"edges": round_dates(low, high)}
    else:
        as_kind = int if kind == "integer" else float
        rounded = round_bins(low, high, whole=kind == "integer")
        bins = dict(zip(("start", "stop", "width"), map(as_kind, rounded), strict=True))
    return Attribute.binned(name, **bins, open="both", type=kind, **common), "bins"


def _middle(column: Column) -> tuple[Any, Any]:
    """Values with about one row in a hundred below and above, so that outliers do not set the bins."""
    share = np.cumsum(column.counts.to_numpy()) / column.counts.sum()
    low, high = (int(np.searchsorted(share, part)) for part in (0.01, 0.99))
    return (column.values[low], column.values[high]) if low < high else (column.values[0], column.values[-1])
