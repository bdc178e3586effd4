"""Rules that combine what several draws of modelled rows say into one estimate with an error.

m draws give values q_i with variances v_i, each computed as if the rows were people. With q the mean of the q_i, W that of the v_i
and B the variance of the q_i among the draws:

    synthetic   T = (1 + 1/m) B - W   Raghunathan, Reiter and Rubin (2003): all rows are drawn from a model.
                                      Where that is not positive, T = W (Reiter 2002).
    rubin       T = W + (1 + 1/m) B   Rubin (1987): some values of real people are drawn. The larger variance.

Both assume that draws differ as much as everything that is not known, and that the model is right. docs/results/modelled.md
measures what that is worth here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._errors import InputError
from .interval import normal_quantile

RULES = ("synthetic", "rubin")


@dataclass(frozen=True, eq=False)
class Combined:
    """What several draws of modelled rows say together; arrays if arrays were given.

    Attributes
    ----------
    value
        The mean over the draws.
    se
        The standard error by the rule.
    degrees
        Degrees of freedom of the t distribution for the interval.

    Examples
    --------
    >>> import pkanon as pk
    >>> low, high = pk.combine_draws([10.0, 12.0, 11.0], [0.1, 0.1, 0.1]).interval()
    >>> print(low.round(2), high.round(2))
    5.36 16.64
    """

    value: NDArray[np.float64]
    se: NDArray[np.float64]
    degrees: NDArray[np.float64]

    def interval(self, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lower and the upper limit.

        Parameters
        ----------
        level
            The level that the rule aims at; on modelled rows it covers less.
        """
        from scipy.special import stdtrit

        normal_quantile(level)  # refuses what is no level
        reach = stdtrit(self.degrees, (1 + level) / 2) * self.se
        return self.value - reach, self.value + reach


_NUMBERS = "Values of draws are numbers, and their variances are not negative."


def combine_draws(values: ArrayLike, variances: ArrayLike, *, rule: str = "synthetic") -> Combined:
    """One estimate with an error from several draws of modelled rows, by a rule of multiple imputation.

    Such errors are not honest here: they assume that the model is right. The errors of :meth:`Release.crosstab` and
    :meth:`Release.regress` are.

    Parameters
    ----------
    values
        The estimates, one per draw along the first axis.
    variances
        Their variances, as computed from the rows of each draw as if they were people.
    rule
        ``synthetic`` (Raghunathan, Reiter and Rubin 2003) or ``rubin`` (Rubin 1987).

    Examples
    --------
    >>> import pkanon as pk
    >>> found = pk.combine_draws([10.0, 12.0, 11.0], [0.5, 0.5, 0.5])
    >>> print(found.value, found.se.round(3))
    11.0 0.913
    """
    if rule not in RULES:
        raise InputError(f"The rule '{rule}' is unknown. Available: {', '.join(RULES)}.")
    try:
        each, within = np.asarray(values, np.float64), np.asarray(variances, np.float64)
    except (TypeError, ValueError):
        raise InputError(_NUMBERS) from None
    if each.shape != within.shape or each.ndim < 1:
        raise InputError("Draws are combined from as many values as variances, one per draw along the first axis.")
    draws = len(each)
    if draws < 2:
        raise InputError("At least two draws are needed to combine them; ask for modelled(draws=5).")
    if not (np.isfinite(each).all() and (within >= 0).all()):
        raise InputError(_NUMBERS)
    own, between = within.mean(0), (1 + 1 / draws) * each.var(0, ddof=1)
    if rule == "rubin":
        total = own + between
        share = np.divide(own, between, out=np.full_like(own, np.inf), where=between > 0)
        degrees = (draws - 1) * (1 + share) ** 2
    else:
        positive = between > own
        total = np.where(positive, between - own, own)
        share = np.divide(own, between, out=np.zeros_like(own), where=positive)
        degrees = np.where(positive, (draws - 1) * (1 - share) ** 2, draws - 1)
    return Combined(each.mean(0), np.sqrt(total), np.clip(degrees, 1.0, 1e9))
