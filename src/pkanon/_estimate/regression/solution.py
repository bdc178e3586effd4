"""What a solved regression is: coefficients, and the functions of people that their errors follow from.

Scores ``h = x (y - mean)`` sum to zero at the solution, J is the sum of ``x x^T mean'``. To first order a person moves the
coefficients by ``psi = J^-1 h``. ``q_j = 1 / (J^-1)_jj`` measures how much column j varies beside all others: it is the sum of
``(r_j x)^2 mean'`` with ``r_j = q_j J^-1 e_j``, the residual of the column on the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._blocks import Counts
from ..._errors import InputError
from .design import Design
from .rows import Names, Parts, Rows

MOST_NUMBERS = 2**25
"""In one array: a quarter of a gigabyte."""
COLLINEAR = 1e-10
"""The least eigenvalue of the scaled information: below it, rounding errors of the sums decide."""


@dataclass(frozen=True, eq=False)
class Solution:
    """Coefficients, the information J, and functions of people: ``moves`` (psi), ``strengths`` (their sums are q).

    ``fit`` has the squared residuals and the squared deviations of the response; only least squares has them.
    """

    coefficients: Counts
    information: Counts
    moves: Parts
    strengths: Parts
    fit: Parts | None = None


def inverted(information: Counts, design: Design) -> Counts:
    """The inverse of the information, refused with a sentence if it has none or is not positive definite."""
    names = [column.name for column in design.columns]
    diagonal = np.diag(information)
    for name, number in zip(names, diagonal):
        if not number > 0:
            raise InputError(
                f"The coefficient of {name} cannot be known: too few people have it to be told from the noise. "
                "Leave it out, or put labels together, as in name in ('a', 'b')."
            )
    scale = 1 / np.sqrt(diagonal)
    scaled = information * np.outer(scale, scale)
    values, vectors = np.linalg.eigh(scaled)
    if values[0] > COLLINEAR:
        return np.asarray((vectors / values) @ vectors.T * np.outer(scale, scale))
    involved = [name for name, part in zip(names, vectors[:, 0]) if abs(part) > 0.1]
    listed = ", ".join(involved[:6]) + (", ..." if len(involved) > 6 else "")
    if values[0] > -COLLINEAR:
        raise InputError(f"The predictors determine each other: {listed}. Leave one of them out.")
    raise InputError(
        f"The coefficients of {listed} cannot be known apart: beside the noise the information matrix is not positive "
        "definite. Ask with fewer predictors, put labels together, as in name in ('a', 'b'), or take reference labels that more "
        "people have, as in C(name, ref='label')."
    )


def check_room(rows: Rows, names: Names, columns: int) -> None:
    """Refuse a table that is too large to write its columns out."""
    numbers = columns * int(np.prod(rows.shape(names), dtype=float))
    if numbers > MOST_NUMBERS:
        cells = numbers // columns
        raise InputError(
            f"The regression needs the table of {', '.join(names)} with {cells:,} cells for {columns} numbers each; the limit is "
            f"{MOST_NUMBERS:,}. Leave out a predictor, or take a column with fewer values."
        )
