"""From a formula and the codes of a release to a regression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..._blocks import Block, Counts
from ..._errors import InputError, did_you_mean
from ..._estimate import ABOUT, normal_quantile, regression
from ..._progress import Progress, quiet
from ..._schema import Bins, Codes, Points, Schema
from .coding import Coded, Coding, Given, code
from .fitted import WEAK, Regression
from .formula import read_formula

MISSING = ("exclude", "category")


def regress(
    schema: Schema,
    blocks: Sequence[Block],
    codes: Mapping[str, Codes],
    formula: str,
    *,
    family: str = "linear",
    about: str = "population",
    weights: tuple[str, NDArray[np.float64] | tuple[str, Counts]] | None = None,
    level: float = 0.95,
    missing: str = "exclude",
    values: Given | None = None,
    progress: Progress = quiet,
) -> Regression:
    """Fit ``formula``; :meth:`Release.regress` calls it. ``weights``: the name of their column, and a weight per row or the
    numbers of a randomised attribute."""
    normal_quantile(level)
    if family not in regression.FAMILIES:
        raise InputError(f"There is no family '{family}'. {did_you_mean(str(family), list(regression.FAMILIES))}")
    if about not in ABOUT:
        raise InputError(f"Errors can be about the 'population' or the 'table', not '{about}'.")
    if missing not in MISSING:
        raise InputError(f"People without an answer are left out ('exclude') or a 'category', not '{missing}'.")
    coding = code(read_formula(formula), schema, values or {}, missing)
    _check_numbers(coding.response, family)
    name, numbers = (None, None) if weights is None else weights
    used = {coding.response.attribute.name, *(coded.attribute.name for coded in coding.predictors)}
    if name in used:
        raise InputError(f"'{name}' is the weight; it cannot be in the formula too.")
    design = regression.Design.of(
        coding.design(),
        {coding.response.attribute.name: coding.response.numbers},
        constant=coding.constant,
        kept=coding.kept(),
        weight=numbers if isinstance(numbers, tuple) else None,
    )
    rows = regression.Rows.of(blocks, codes, design.attributes, None if isinstance(numbers, tuple) else numbers)
    pointed = [c.attribute.name for c in coding.predictors if isinstance(c.attribute.domain, Points)]
    sampled = about == "population" or any(isinstance(schema.attribute(n).domain, Points) for n in design.attributes)
    fitted = regression.fit(
        rows,
        design,
        regression.FAMILIES[family],
        about="population" if sampled else about,
        progress=progress,
    )
    remarks = _remarks(coding, fitted, design, missing=missing, pointed=pointed, about=about)
    return Regression(
        formula=coding.formula.text,
        family=family,
        about=about,
        level=level,
        rows=round(rows.number),
        weights=name,
        missing=missing,
        remarks=tuple(remarks),
        _coding=coding,
        _fitted=fitted,
    )


def _check_numbers(response: Coded, family: str) -> None:
    """Refuse a response that the family cannot have."""
    numbers = response.numbers[np.isfinite(response.numbers)]
    text = response.factor.text
    if family == "logistic" and not np.isin(numbers, (0.0, 1.0)).all():
        raise InputError(f"A logistic regression is of a response that is 0 or 1; write {text} == one of its values.")
    if family == "poisson" and (numbers < 0).any():
        raise InputError(f"A Poisson regression is of counts; {text} has values below zero.")


def _remarks(
    coding: Coding,
    fitted: regression.Fitted,
    design: regression.Design,
    *,
    missing: str,
    pointed: list[str],
    about: str,
) -> list[str]:
    remarks = []
    numeric = [c for c in (coding.response, *coding.predictors) if c.factor.expression is None and not c.categories]
    binned = list(dict.fromkeys(c.attribute.name for c in numeric if isinstance(c.attribute.domain, Bins)))
    if binned:
        remarks.append(f"A bin counts as its middle: {', '.join(binned)}.")
    if design.mask:
        remarks.append(f"People without a value are left out: {', '.join(design.mask)}.")
    if pointed:
        remarks.append(
            f"Numbers were rounded at random to points: {', '.join(dict.fromkeys(pointed))}. As predictors they vary more than "
            "they did, so their coefficients are nearer to zero."
        )
    if about == "table" and not fitted.fixed:
        remarks.append(
            "What the people in the table fix is not known well enough to be subtracted: the errors are those about the "
            "population, which are larger."
        )
    if fitted.weak.any():
        remarks.append(
            f"{WEAK}: the column hardly varies beside the others, given the noise; the interval is wide and not symmetric, "
            "the coefficient may be far off."
        )
    return remarks
