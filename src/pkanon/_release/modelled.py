"""Modelled rows: drawn from a model of a release, computed from the released rows and nothing else.

So everything that the release promises holds for them (docs/why/theory.md 3: what is computed from a private result is as
private). They are drawn in pieces of a fixed size, each with randomness of its own: equal seeds give equal rows, whatever is
asked for first, and files of any length take little memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from .._errors import InputError
from .._estimate import Fitted, Mixture, draw_people, resampled
from .._files import check_free
from .._frames import Frames, Kind, Mark, as_kind, beside, decode_attributes, export_marked, export_suffix
from .._progress import Progress, quiet
from .._schema import Schema, code_dtype
from .certificate import Certificate
from .names import MODELLED_KEY

PIECE = 131_072
"""Rows that are drawn in one go."""
MOST_DRAWS = 100
MOST_ROWS = 10**10
TITLE = "Modelled rows (pkanon): drawn from a model, nobody's records"
SENTENCES = (
    "These rows are modelled: they were drawn from a model of a randomised table, and no row is a person's record.",
    "They were computed from that release and nothing else, so they tell nothing about anybody that it does not tell.",
    "Good for tables, charts, machine learning and teaching.",
    "Standard errors, tests and coefficients computed from them are wrong: ask the release for those.",
)
"""What every file of modelled rows says of itself."""


@dataclass(frozen=True, eq=False)
class Modelled:
    """Rows drawn from a model of a release; :meth:`Release.modelled` makes it.

    Attributes
    ----------
    rows
        How many rows one draw has.
    draws
        How many draws there are; with more than one, the column ``draw`` numbers them from 1.
    seed
        The seed that was given; None if the operating system's randomness was used.
    schema
        That of the release; the rows have its randomised attributes.
    certificate
        What the release promises.
    kind
        The kind of data frame that ``table`` is.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute("job", ["nurse", "farmer", "clerk"])])
    >>> people = pl.DataFrame({"sex": ["F", "M", "M"] * 500, "job": ["nurse", "farmer", "clerk"] * 500})
    >>> release = pk.release(people, pk.plan(schema, records=1_500, k=5), randomness=pk.Seeded(7))
    >>> modelled = release.modelled(rows=900, seed=1)
    >>> modelled.table.shape  # 900 people who never were
    (900, 2)
    """

    rows: int
    draws: int
    seed: int | None
    schema: Schema = field(repr=False)
    certificate: Certificate = field(repr=False)
    kind: Kind = field(repr=False)
    _models: tuple[Mixture, ...] = field(repr=False)
    _entropy: int = field(repr=False)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What whoever gets these rows must know."""
        claims = "claims nothing" if self.certificate.void else "promises, and that holds for these rows too"
        said = " ".join(self.certificate.void or self.certificate.statement)
        return (*SENTENCES, f"The release {claims}: {said}")

    @property
    def table(self) -> Any:
        """All rows, as the kind of data frame that the release is: columns in schema order, declared types."""
        return as_kind(pl.concat(list(self.pieces())), self.kind)

    def pieces(self, *, progress: Progress | None = None) -> Iterator[pl.DataFrame]:
        """The rows in pieces, as polars data frames.

        Parameters
        ----------
        progress
            Called with the name of a step and the share of it that is done.
        """
        tell = progress or quiet
        attributes, number = self.schema.randomised, _number(self.schema)
        done, total = 0, self.rows * self.draws
        for place, model in enumerate(self._models):
            for start in range(0, self.rows, PIECE):
                tell("drawing", done / total)
                rows = min(PIECE, self.rows - start)
                rng = self._rng(1, place, start // PIECE)
                codes = draw_people(model, rows, rng, independent=self.draws > 1)
                codes |= {a.name: np.zeros(rows, code_dtype(a.size)) for a in attributes if a.name not in codes}
                piece = decode_attributes(attributes, codes)
                if self.draws > 1:
                    piece = piece.with_columns(pl.lit(place + 1, pl.Int64).alias(number))
                done += rows
                yield piece
        tell("drawing", 1.0)

    def export(self, path: str | Path, *, progress: Progress | None = None) -> dict[str, str]:
        """Write the rows to one file that does not exist yet, marked as modelled.

        Returns the columns whose names that program does not take, with the names that they have in the file. CSV, Parquet and
        Arrow files are written piece by piece; the other formats hold all rows in memory.

        Parameters
        ----------
        path
            The file; its ending names the format: .csv, .parquet, .feather, .arrow, .ipc, .sav or .zsav (SPSS), .dta (Stata),
            .xlsx (Excel). CSV and Arrow have no place for a mark: a second file, such as rows.csv-metadata.json, holds it.
        progress
            Called with the name of a step and the share of it that is done.
        """
        place = check_destination(path)
        one = next(replace(self, rows=1).pieces())
        frames = Frames(one, self.rows * self.draws, lambda: self.pieces(progress=progress))
        mark = Mark(TITLE, self.sentences, {MODELLED_KEY: json.dumps(self._about(), ensure_ascii=False)})
        return export_marked(frames, place, self.schema, mark)

    def _about(self) -> dict[str, Any]:
        return {
            "modelled": True,
            "rows": self.rows,
            "draws": self.draws,
            "seed": self.seed,
            "release": self.certificate.digests["data"],
            "sentences": list(self.sentences),
        }

    def _rng(self, *key: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self._entropy, spawn_key=key))


def check_destination(path: str | Path) -> Path:
    """The path of a file for modelled rows, which must be new, and so must the one beside it."""
    place = Path(path)
    export_suffix(place)
    check_free(place)
    note = beside(place)
    if note is not None:
        check_free(note)
    return place


def _number(schema: Schema) -> str:
    """The column that numbers the draws: ``draw``, or a name that no attribute has."""
    taken = {attribute.name for attribute in schema.attributes}
    return next(name for name in ("draw", *(f"draw_{i}" for i in range(2, len(taken) + 3))) if name not in taken)


def check_asked(rows: object, draws: object, seed: object) -> None:
    """Refuse numbers that are none, before a model is fitted."""
    if isinstance(rows, bool) or not isinstance(rows, int | np.integer) or not 1 <= rows <= MOST_ROWS:
        raise InputError(f"The number of modelled rows is a whole number from 1 to {MOST_ROWS:,}.")
    if isinstance(draws, bool) or not isinstance(draws, int | np.integer) or not 1 <= draws <= MOST_DRAWS:
        raise InputError(f"The number of draws is a whole number from 1 to {MOST_DRAWS}.")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0):
        raise InputError("The seed is a whole number of at least 0; None takes the operating system's randomness.")


def modelled(
    schema: Schema,
    certificate: Certificate,
    kind: Kind,
    model: Fitted,
    *,
    rows: int,
    draws: int,
    seed: int | None,
    progress: Progress,
) -> Modelled:
    """Rows to be drawn from a model; several draws have a model each."""
    fresh = np.random.SeedSequence().entropy if seed is None else int(seed)
    assert isinstance(fresh, int)
    models = [model.mixture]
    if draws > 1:
        models = []
        for place in range(draws):
            progress("modelling again", place / draws)
            models.append(resampled(model, np.random.default_rng(np.random.SeedSequence(fresh, spawn_key=(0, place)))))
        progress("modelling again", 1.0)
    return Modelled(int(rows), int(draws), seed, schema, certificate, kind, tuple(models), fresh)
