"""One HTML page with the figures, what they say and every number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import polars as pl

from ..document import cell, data_line, document, inline, seed_note
from .findings import OVERALL, TITLES, Finding
from .measure import MEASURES

SECTIONS = {
    "tables": "Tables",
    "queries": "Queries and correlations",
    "classifier": "A classifier",
    "risks": "What an adversary learns",
}


def html_page(
    frame: pl.DataFrame,
    findings: Sequence[Finding],
    figures: Mapping[str, tuple[str, Sequence[str]]],
    about: str,
    source: str,
    *,
    synthetic: bool,
    seed: int,
    quick: bool,
) -> str:
    """The whole page; ``figures`` has per section the SVG text and the measures it shows."""
    parts = [
        data_line(source, synthetic=synthetic),
        f"<p>{escape(about)}</p>",
        _INTRODUCTION,
        seed_note(seed, quick=quick),
        *(f"<p><strong>{escape(finding.text)}</strong></p>" for finding in findings if finding.measure == OVERALL),
    ]
    for place, (name, (svg, measures)) in enumerate(figures.items(), 1):
        said = "".join(f"<li>{escape(finding.text)}</li>" for finding in findings if finding.measure in measures)
        parts.append(
            f"<section><h2>{SECTIONS[name]}</h2><figure>{inline(svg, place)}</figure><ul>{said}</ul></section>"
        )
    parts.append(_LIMITS)
    tables = "".join(_table(frame, measure) for measure in MEASURES if measure in set(frame["measure"]))
    parts.append(f"<section><h2>Every number</h2>{tables}</section>")
    return document("Randomisation against k-anonymisation at the same k", parts)


_INTRODUCTION = """<p>Pk-anonymity is k-anonymity for randomised tables: for a generalised table it is the same number. So both can be
compared at the same k. <em>Mondrian</em> divides the people into groups of at least k and publishes
each group's ranges of values; all attributes are generalised, or all but the target, which is then published as it
is. <em>equal-rho</em> (the paper's design) and <em>optimal</em> (the default) randomise every value and shuffle the
rows; tables are reconstructed by <em>inverse</em> (unbiased) or <em>simplex</em> (the nearest without negative
cells), those of the first optimal release also by <em>model</em> (from a model of all attributes).
The <em>L1 error</em> of a table is the sum of the absolute errors of its cells, divided by the number of
people. Findings compare Mondrian with all attributes generalised with the randomised ways, as these protect all
attributes too; of a randomised design the best reading counts.</p>"""

_LIMITS = """<section><h2>How to read this</h2><ul>
<li>The same k is not the same protection. Mondrian's k is about picking a row among its group's. It is no promise about what else is
known: whoever knows most of a group, or has a second generalised table of the same people, learns more. The k of
a randomised release holds whatever is known about the people, and comes with an epsilon that adds up over releases.</li>
<li>Mondrian has little error at a small k because it publishes most people's values as they are. These people pay
the price.</li>
<li>"Other people" is what statistics teach about anybody, from the true table without the person. Guessing as well as that is no
disclosure about her; guessing better is. Much of what is certain follows from the kind of people they are, too.</li>
<li>"Independence" is the table that anybody could write down from the true tables of single attributes alone. A table with a
larger error than that is worse than none.</li>
<li>Adversaries against randomised rows use an approximation to the best attack; a better one can exist. The promise 1/k holds
for all.</li></ul></section>"""


def _table(frame: pl.DataFrame, measure: str) -> str:
    part = frame.filter(pl.col("measure") == measure)
    ks = sorted(set(part.drop_nulls("k")["k"].to_list()))
    head = "".join(f"<th>k = {k:,}</th>" for k in ks)
    body = ""
    for way in dict.fromkeys(part["way"].to_list()):
        values = dict(part.filter(pl.col("way") == way).select("k", "value").iter_rows())
        body += f"<tr>{cell(way)}" + "".join(cell(values.get(k, values.get(None))) for k in ks) + "</tr>"
    title = f"<h3>{escape(TITLES[measure])} ({measure})</h3>"
    return f'{title}<div class="wide"><table><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table></div>'
