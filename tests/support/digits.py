"""Algorithms 1-3 of the paper to 50 digits, by bisection in plain decimals."""

from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction

_DIGITS = 90
"""1 - rho and k - 1 may lose 30 digits to cancellation; 50 remain with room."""


def rho_for_budget(epsilon: Decimal, sizes: Sequence[int]) -> Decimal:
    """The root of sum_a log((1 + (V_a - 1) rho)/(1 - rho)) = epsilon, by bisection over log(rho/(1-rho)).

    With z = rho/(1-rho) the ratio of an attribute is 1 + V z (docs/why/theory.md 4). ``epsilon`` is a
    Decimal above 0.
    """
    with localcontext(Context(prec=_DIGITS)):
        epsilon = Decimal(epsilon)
        kinds = [(size, list(sizes).count(size)) for size in sorted(set(sizes))]

        def spent(u: Decimal) -> Decimal:
            z = u.exp()
            return sum((count * (1 + size * z).ln() for size, count in kinds), Decimal(0))

        low, high = Decimal(-2000), Decimal(2000)
        for _ in range(230):  # 4000 / 2^230 < 1e-65
            middle = (low + high) / 2
            low, high = (middle, high) if spent(middle) < epsilon else (low, middle)
        return 1 / (1 + (-low).exp())


def budget_of_k(k: Decimal | int | float | str, records: int) -> Decimal:
    """eps(k) = log((n-1)/(k-1))/2 (docs/why/theory.md 5)."""
    with localcontext(Context(prec=_DIGITS)):
        return ((Decimal(records) - 1) / (Decimal(k) - 1)).ln() / 2


def ln(value: Fraction) -> Decimal:
    """The logarithm of a Fraction."""
    with localcontext(Context(prec=_DIGITS)):
        return (Decimal(value.numerator) / Decimal(value.denominator)).ln()


def exp(value: Fraction) -> Decimal:
    """e to the power of a Fraction."""
    with localcontext(Context(prec=_DIGITS)):
        return (Decimal(value.numerator) / Decimal(value.denominator)).exp()
