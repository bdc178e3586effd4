"""One HTML page with the figures, their reading, the verdicts and every number. It loads nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import pairwise

import polars as pl

from ..document import cell, data_line, document, inline, number, seed_note
from .measure import EXPERIMENTS
from .statements import Line, Statement, growth, line

TITLES = {
    "records": "Figure 1: more records",
    "attributes": "Figure 2: more attributes",
    "k": "Figure 3: more anonymity",
}
COLUMNS = {
    "experiment": "experiment", "records": "records", "attributes": "attributes", "cells": "cells", "k": "k",
    "epsilon": "epsilon", "design": "design", "method": "method", "l1": "L1 error", "l1_sd": "± s.d.",
    "releases": "releases", "predicted_l1": "predicted (inverse)", "ratio": "measured / predicted", "note": "note",
}  # fmt: skip


def html_page(
    frame: pl.DataFrame,
    statements: Sequence[Statement],
    figures: Sequence[str],
    source: str,
    *,
    synthetic: bool,
    seed: int,
    quick: bool,
) -> str:
    """The whole page; ``figures`` are SVG texts in the order of the experiments."""
    readings = {"records": _read_records, "attributes": _read_attributes, "k": _read_k}
    parts = [
        data_line(source, synthetic=synthetic),
        _INTRODUCTION,
        seed_note(seed, quick=quick),
    ]
    for place, (experiment, svg) in enumerate(zip(EXPERIMENTS, figures), 1):
        parts.append(
            f"<section><h2>{TITLES[experiment]}</h2><figure>{inline(svg, place)}</figure>"
            f"<p>{escape(readings[experiment](frame))}</p></section>"
        )
    parts.append(_verdicts(statements))
    parts.append(_DIFFERENCES)
    parts.append(f'<section><h2>Every point</h2><div class="wide">{_points(frame)}</div></section>')
    return document("The experiments of the paper, run again", parts)


_INTRODUCTION = """<p>Ikarashi, Kikuchi, Chida and Takahashi, <cite>k-anonymous Microdata Release via Post Randomisation Method</cite>,
section 5: a census table is randomised so that nobody can link a row to a person with more than 1/k confidence, and
the cross-tabulation of its attributes is reconstructed. The <em>L1 error</em> is the sum of the absolute errors of
all cells, divided by the number of records; half of it is the share of people counted in a wrong cell (if none is
negative), and at 1 or more a table says almost nothing. <em>equal-rho</em> is the paper's design; <em>optimal</em>
meets the same k and the same epsilon and is designed for that very table (workload "full", no floor for smaller
tables). <em>inverse</em> is unbiased, <em>simplex</em> the nearest table without negative cells, <em>em</em> the most
likely table, which is what the iteration the paper cites leads to, and <em>model</em> comes from a model of all attributes
(first release of the paper's design only).</p>"""

_DIFFERENCES = """<section><h2>Why numbers can differ from the paper's</h2><ul>
<li>The paper cites its estimator and does not say which of the two in that source it is, or after how many steps it was
stopped. The choice alone changes an error several times; all are shown here.</li>
<li>The paper does not say how it rounded age, income and travel time. Age here has five-year bands up to 85 and more,
income bands of 10,000 dollars with classes for none and less, travel time bands of five minutes.</li>
<li>The paper gives its results as pictures, without the number of repetitions. Here every number is in points.csv, as mean
and standard deviation.</li></ul></section>"""


def _factor(values: Line) -> float:
    """By what ten times the place multiplies the number, from the first point to the last."""
    return math.pow(growth(values[0], values[-1]), 1 / math.log10(values[-1][0] / values[0][0]))


def _readable(frame: pl.DataFrame, design: str, method: str) -> int:
    """The most attributes whose table has an error below 1."""
    return max((place for place, value in line(frame, "attributes", method, design) if value < 1), default=0)


def _read_records(frame: pl.DataFrame) -> str:
    inverse, em = line(frame, "records", "inverse"), line(frame, "records", "em")
    optimal = line(frame, "records", "inverse", "optimal")
    rho = line(frame, "records", "inverse", field="rho")
    return (
        f"Ten times the records divide the error of the unbiased estimate by about {1 / max(_factor(inverse), 1e-9):.0f}. With a fixed "
        f"retention probability it would be 3.2; but k stays fixed, and among more people each may keep more: rho rises from "
        f"{rho[0][1]:.3f} to {rho[-1][1]:.3f}, and epsilon with it. At {inverse[-1][0]:,} records the paper's design has an error "
        f"of {number(inverse[-1][1])} (em: {number(em[-1][1])}), the optimal one {number(optimal[-1][1])}."
    )


def _read_attributes(frame: pl.DataFrame) -> str:
    inverse = line(frame, "attributes", "inverse")
    steps = [growth(a, b) ** (1 / (b[0] - a[0])) for a, b in pairwise(inverse)]
    epsilon = line(frame, "attributes", "inverse", field="epsilon")[0][1]
    return (
        f"Epsilon stays at {epsilon:.3f}: k and the number of records fix it. The error does not stay: one budget is shared by "
        f"more attributes, and people by more cells, so each attribute multiplies the unbiased error by {number(min(steps))} to "
        f"{number(max(steps))}. The full table can be read (error below 1) up to {_readable(frame, 'equal-rho', 'inverse')} "
        f"attributes with the paper's design and up to {_readable(frame, 'optimal', 'inverse')} with the optimal one, inverse; "
        "the estimators without negative cells stay below 2 whatever they get, which is no merit."
    )


def _read_k(frame: pl.DataFrame) -> str:
    inverse, em = line(frame, "k", "inverse"), line(frame, "k", "em")
    optimal = line(frame, "k", "inverse", "optimal")
    epsilon = line(frame, "k", "inverse", field="epsilon")
    return (
        f"Ten times the k multiplies the error by about {_factor(inverse):.1f} with inverse and {_factor(em):.1f} with em, in the "
        f"paper's design; with the optimal one by {_factor(optimal):.1f} (inverse), from a lower start: {number(optimal[0][1])} "
        f"against {number(inverse[0][1])} at k = {inverse[0][0]}. Epsilon falls from {epsilon[0][1]:.2f} to {epsilon[-1][1]:.2f} at "
        f"k = {epsilon[-1][0]:,}."
    )


def _verdicts(statements: Sequence[Statement]) -> str:
    rows = "".join(
        f"<tr><td>{s.figure or '-'}</td><td>{escape(s.text)}</td>"
        f'<td class="verdict {s.verdict.split()[0]}">{s.verdict}</td>'
        f"<td>{escape(s.numbers[:1].upper() + s.numbers[1:])}</td></tr>"
        for s in statements
    )
    return (
        "<section><h2>What is confirmed and what is corrected</h2><p>Computed from the points below; where a statement has no "
        "number, the one used to check it is named. Statements are judged by the paper's design with whichever of the three "
        "estimators has the least error.</p><table><thead><tr><th>figure</th><th>statement</th><th>verdict</th>"
        f"<th>numbers</th></tr></thead><tbody>{rows}</tbody></table></section>"
    )


def _points(frame: pl.DataFrame) -> str:
    head = "".join(
        f"<th{' class=n' if frame[name].dtype.is_numeric() else ''}>{escape(title)}</th>"
        for name, title in COLUMNS.items()
    )
    body = "".join(
        "<tr>" + "".join(cell(row[name], 4 if name == "epsilon" else None) for name in COLUMNS) + "</tr>"
        for row in frame.iter_rows(named=True)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
