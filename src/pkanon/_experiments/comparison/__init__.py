"""Randomisation against classical k-anonymisation at the same k.

Pk-anonymity of a generalised table is its k-anonymity, so the two can be compared at the same k (docs/why/theory.md 2).

people.py       the table, as codes
mondrian.py     strict multidimensional Mondrian;  generalised.py  what it publishes, and tables read from that
queries.py      random counting queries;  downstream.py  correlations, a classifier
measure.py      all measures for all ways of publishing
findings.py     who wins where;  page.py  one HTML page;  result.py  the result and its folder
"""

from .result import Comparison, compare

__all__ = ["Comparison", "compare"]
