"""Which cells of a table a condition picks: ``{"sex": "F", "age": ["0-4", "5-9"]}``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..._errors import DataError, InputError, did_you_mean
from ..._schema import MISSING_LABEL, Attribute

if TYPE_CHECKING:
    from ..reconstruction import Reconstruction

Where: TypeAlias = Mapping[str, Any]
"""Attribute to the value, or the list of values, that counts. None is the missing value."""


def code_of(attribute: Attribute, label: Any) -> int:
    """The code of a value as it is released; a bin is released as its label."""
    if isinstance(label, np.generic):
        label = label.item()
    if label == attribute.other and label is not None and attribute.other_code is not None:
        return attribute.other_code
    if attribute.merged and label.__hash__ is not None and label in attribute.merged_codes:
        whole = attribute.label(attribute.merged_codes[label])
        raise InputError(f"{label!r} of '{attribute.name}' was merged before the release; ask for {whole!r}.")
    if label is None or attribute.released_type == attribute.type:
        try:
            code = attribute.code(label)
        except DataError:
            code = -1
        if code >= 0 and (code != attribute.other_code):
            return code
    else:  # bins are released as their labels
        for code, known in enumerate(attribute.labels()):
            if known == label:
                return code
    if label is None:
        raise InputError(f"'{attribute.name}' has no missing values: its schema refuses them.")
    same = [known for known in attribute.labels() if str(known) == str(label)] if attribute.size <= 10_000 else []
    if same:
        raise InputError(
            f"{label!r} is not a value of '{attribute.name}', which is of type {attribute.released_type}; write {same[0]!r}."
        )
    if label == MISSING_LABEL and attribute.missing_code is not None:
        raise InputError(f"The missing value of '{attribute.name}' is None.")
    known_labels = [str(known) for known in attribute.labels() if known is not None] if attribute.size <= 10_000 else []
    hidden = f" Unlisted values are all '{attribute.other}'." if attribute.other is not None else ""
    raise InputError(
        f"'{label}' is not a value of '{attribute.name}'.{hidden} {did_you_mean(str(label), known_labels)}"
    )


def people_where(table: Reconstruction, where: Where) -> tuple[Reconstruction, NDArray[np.bool_]]:
    """The table with every value apart, and True for its cells where the condition holds.

    The condition is about the values that are shown. Who is left out meets none.
    """
    chosen = cells_where(table.attributes, where)
    if table.grouping is None:
        return table, chosen
    return table.whole, table.grouping.spread(chosen.astype(float)) != 0


def cells_where(attributes: Sequence[Attribute], where: Where) -> NDArray[np.bool_]:
    """True for the cells where every attribute named has one of the values given."""
    names = [attribute.name for attribute in attributes]
    if not isinstance(where, Mapping):
        raise InputError('A condition says which attributes have which values: {"sex": "F"} or sex="F".')
    mask = np.ones([attribute.size for attribute in attributes], bool)
    for name, wanted in where.items():
        if name not in names:
            raise InputError(f"The table has no attribute '{name}'. {did_you_mean(str(name), names)}")
        axis = names.index(name)
        attribute = attributes[axis]
        listed = (
            wanted.to_list() if hasattr(wanted, "to_list") else wanted.tolist() if hasattr(wanted, "tolist") else wanted
        )
        labels = listed if isinstance(listed, (list, tuple, set, frozenset)) else [listed]
        chosen = np.zeros(attribute.size, bool)
        chosen[[code_of(attribute, label) for label in labels]] = True
        mask &= chosen.reshape([-1 if i == axis else 1 for i in range(len(names))])
    return mask
