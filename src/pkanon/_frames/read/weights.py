"""A passed column as survey weights."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..._errors import DataError
from ..border import guarded


def column_as_weights(column: pl.Series) -> NDArray[np.float64]:
    """The column as numbers that can weigh rows: none missing, none negative, not all zero."""
    wrong = f"Column '{column.name}' cannot be weights: it must hold a number, zero or more, in every row."
    weights = guarded(wrong, lambda: column.cast(pl.Float64).to_numpy())
    if len(weights) and not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise DataError(wrong)
    return np.asarray(weights, np.float64)
