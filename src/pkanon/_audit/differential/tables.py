"""Made-up tables through the real pipeline: texts are read, encoded, randomised and shuffled as any release is."""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..._errors import InputError, ReadabilityWarning
from ..._frames import encode
from ..._plan import Asked, Plan
from ..._release import release
from ..._sample import System
from ..._schema import Attribute, Bins, Codes, Edge, Schema
from .law import Record


class Pipeline:
    """The blocks of a plan at work on tables that were made up for the audit.

    Columns that are not randomised are left out, and so is the noise on a hidden record count.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = replace(plan, schema=Schema(plan.schema.randomised), asked=Asked(), count_noise=None)
        self._texts = {a.name: [_text(a, code) for code in range(a.size)] for a in self.plan.schema.attributes}
        self._check()

    def release(self, parts: Sequence[tuple[Record, int]]) -> Mapping[str, Codes]:
        """The released codes of a table in which each record stands so many times, one after the other."""
        return self._released(self._table(parts))

    def arranged(self, first: Record, second: Record, places: NDArray[np.bool_]) -> Mapping[str, Codes]:
        """The released codes of a table that holds ``first`` where ``places`` says so, and else ``second``."""
        return self._released(self._gathered([second, first], places.astype(np.int64)))

    def _released(self, table: pl.DataFrame) -> Mapping[str, Codes]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReadabilityWarning)  # nobody reads these tables
            made = release(
                table,
                self.plan,
                randomness=System(),
                allow_fewer=True,
                drafted_not_protected=True,  # nothing of anybody is in these tables
                data_dependent=True,
            )
        return made.codes

    def _table(self, parts: Sequence[tuple[Record, int]]) -> pl.DataFrame:
        lengths = [rows for _, rows in parts]
        return self._gathered([record for record, _ in parts], np.repeat(np.arange(len(parts)), lengths))

    def _gathered(self, records: Sequence[Record], which: NDArray[np.int64]) -> pl.DataFrame:
        columns = []
        for name, texts in self._texts.items():
            column = pl.Series(name, [texts[record[name]] for record in records], pl.String)
            columns.append(column.gather(which))
        return pl.DataFrame(columns)

    def _check(self) -> None:
        """Every text is read as the code it was made for."""
        longest = max(len(texts) for texts in self._texts.values())
        codes = {name: np.arange(longest) % len(texts) for name, texts in self._texts.items()}
        table = pl.DataFrame(
            [pl.Series(name, [self._texts[name][code] for code in own], pl.String) for name, own in codes.items()]
        )
        read = encode(table, self.plan.schema).codes
        for name, own in codes.items():
            if not np.array_equal(read[name], own):
                raise InputError(f"The audit cannot make up a table that holds every value of '{name}'.")


def _text(attribute: Attribute, code: int) -> str | None:
    """A text that is read as ``code``; None is a missing value."""
    if code == attribute.missing_code:
        return None
    if isinstance(attribute.domain, Bins) and code != attribute.other_code:
        edges = attribute.domain.edges
        candidates = [_before(edges[0]), *edges]
        return next(attribute.notation.written(edge) for edge in candidates if attribute.domain.code(edge) == code)
    label = attribute.label(code)
    return None if label is None else attribute.notation.written(label)


def _before(edge: Edge) -> Edge:
    return edge - dt.timedelta(days=1) if isinstance(edge, dt.date) else edge - 1
