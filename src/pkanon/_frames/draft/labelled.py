"""Columns whose values have labels in the file: the labels are the values, in the order of the codes.

They stand in the file for every code, whether it occurs or not, so the list is complete and mostly says nothing about the
people. Labels that name people are the exception: whoever typed the numbers of patients or doctors may have labelled them with
their names. A column with an unlabelled value is something else, such as a number with labels for its ends, and is drafted as
any other.
"""

from __future__ import annotations

import polars as pl

from ..._schema import Attribute
from ..read import Labels, Source, all_labelled, as_texts, labelled_texts
from .finding import Finding
from .identity import numbered_persons
from .infer import Column, Seen
from .personal import named_people

_MOST_LABELS = 1000
_TRUTH = {"false": False, "true": True}


def labelled(source: Source, column: Seen) -> tuple[Attribute, str] | Finding | None:
    """The attribute for a column whose values all have labels, and the note about it; None for any other column.

    A finding instead: the labels may name people, and none of them goes anywhere.
    """
    labels: Labels = source.labels.get(column.name, {})
    texts = labelled_texts(labels)
    if column.table is None or not 2 <= len(texts) <= _MOST_LABELS or not all_labelled(column.table["value"], labels):
        return None
    if finding := _about_people(column, column.table, labels):
        return finding
    gaps = column.name in source.gaps or bool(column.table["value"].null_count())
    values = [_TRUTH[text] for text in texts] if set(texts) == set(_TRUTH) else texts
    note = f"{len(texts):,} labels in the file: listed, in the order of their codes"
    if column.name in source.gaps:
        note += "; the file has codes that mean missing, which count as one more value"
    elif gaps:
        note += "; some rows have no value, which counts as one more value"
    ordered = column.name in source.ordinal and values is texts
    if ordered:
        note += "; an order"
    return Attribute(column.name, values, missing="value" if gaps else "reject", ordered=ordered), note


def _about_people(column: Seen, table: pl.DataFrame, labels: Labels) -> Finding | None:
    """What somebody must look into if the labels, those that nobody has included, may be names or numbers of people."""
    held = table.drop_nulls("value")
    rows = pl.DataFrame({"label": as_texts(held["value"], labels), "count": held["count"]})
    texts = pl.DataFrame({"label": labelled_texts(labels)}).join(
        rows.group_by("label").agg(pl.col("count").sum()), on="label", how="left", maintain_order="left"
    )
    missing = column.rows - int(rows["count"].sum())
    held_by = Column(column.name, "text", column.rows, texts["label"], texts["count"].fill_null(0), missing)
    return numbered_persons(held_by) or named_people(held_by)
