"""Columns whose values have labels in the file: the labels are the values, in the order of the codes.

They stand in the file for every code, whether it occurs or not, so the list is complete and says nothing about the people. A
column with an unlabelled value is something else, such as a number with labels for its ends, and is drafted as any other.
"""

from __future__ import annotations

from ..._schema import Attribute
from ..read import Labels, Source, all_labelled, labelled_texts
from .infer import Seen

_MOST_LABELS = 1000
_TRUTH = {"false": False, "true": True}


def labelled(source: Source, column: Seen) -> tuple[Attribute, str] | None:
    """The attribute for a column whose values all have labels, and the note about it; None for any other column."""
    labels: Labels = source.labels.get(column.name, {})
    texts = labelled_texts(labels)
    if column.table is None or not 2 <= len(texts) <= _MOST_LABELS or not all_labelled(column.table["value"], labels):
        return None
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
