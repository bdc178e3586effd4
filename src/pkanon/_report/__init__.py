"""The report of a release, for whoever has to decide about it and whoever will use it: one file of HTML.

editions.py    the way to a report: external edition from the release alone, internal edition beside the private table
page.py        the page around the sections;  style.py  its look;  markup.py  HTML in which text cannot become markup
subject.py     what a report is about
claims.py      the first screen, the promise and its limits;  columns.py  columns, values, probabilities
quality.py     which tables can be read, charts;  drawing.py  pictures as SVG
recipes.py     how to analyse it;  provenance.py  digests, contact, signature
findings.py    the first screen of the internal edition
measured.py    errors against the truth;  designs.py  other designs;  attacks.py  attacks (internal edition)
"""

from .editions import Report, report

__all__ = ["Report", "report"]
