"""A regression as text, in the layout of statsmodels."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .fitted import Coefficient

WIDTH = 78


def summary(
    title: str,
    heads: Sequence[tuple[str, str]],
    coefficients: Sequence[Coefficient],
    flags: Sequence[str],
    level: float,
    remarks: Sequence[str],
) -> str:
    """Title, facts in two columns, one line per coefficient, remarks."""
    ends = [f"[{(1 - level) / 2:.4g}", f"{(1 + level) / 2:.4g}]"]
    rows = [
        [
            each.name,
            _number(each.value, 4),
            _number(each.standard_error, 3),
            f"{each.z:.3f}",
            f"{each.p_value:.3f}",
            _number(each.low, 3),
            _number(each.high, 3),
        ]
        for each in coefficients
    ]
    header = ["", "coef", "std err", "z", "P>|z|", *ends]
    names = max(len(row[0]) for row in rows)
    widths = [max(10, *(len(row[i]) for row in (header, *rows))) for i in range(1, len(header))]
    width = max(WIDTH, names + sum(widths) + len(widths))
    names = width - sum(widths) - len(widths)
    lines = [title.center(width).rstrip(), "=" * width, *_facts(heads, width), "=" * width]
    for row, flag in zip((header, *rows), ("", *flags)):
        cells = "".join(f" {cell:>{size}}" for cell, size in zip(row[1:], widths))
        lines.append(f"{row[0]:<{names}}{cells}  {flag}".rstrip())
        if row is header:
            lines.append("-" * width)
    lines.append("=" * width)
    for remark in remarks:
        lines += textwrap.wrap(remark, width)
    return "\n".join(lines)


def _facts(heads: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Two facts a line, each name to the left of its half and each value to the right."""
    half = (width - 3) // 2
    cells = [name + text.rjust(half - len(name)) for name, text in heads]
    if len(cells) % 2:
        cells.append("")
    return ["   ".join(pair).rstrip() for pair in zip(cells[::2], cells[1::2])]


def _number(value: float, digits: int) -> str:
    """Four or three decimals; an exponent where those would say too little."""
    if value != 0 and (abs(value) >= 1e5 or abs(value) < 10.0**-digits):
        return f"{value:.{digits}g}"
    return f"{value:.{digits}f}"
