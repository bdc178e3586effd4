"""A run of the experiments, and its folder.

    out/points.csv                     every number
    out/figure1.png, .svg ... 3        the three figures
    out/index.html                     one page with everything, which loads nothing

The folder is written under another name and renamed when it is complete.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from ..._errors import InputError
from ..._files import write_folder
from ..._progress import Progress, quiet
from ..._results import json_rows
from ..census import read_census
from ..seeds import check_count, check_seed
from ..writing import check_folder, draw
from .measure import EXPERIMENTS, QUICK_RELEASES, RELEASES, measure
from .page import html_page
from .statements import Statement, statements

if TYPE_CHECKING:
    import altair


@dataclass(frozen=True)
class Reproduction:
    """The experiments of the paper, measured: ``to_polars()`` has every number, ``save(folder)`` figures and a page.

    Attributes
    ----------
    frame
        Every number.
    source, synthetic
        The name of the data, and whether they are synthetic.
    seed, releases, quick
        As asked for in :func:`experiments.reproduce`.

    Examples
    --------
    >>> import pkanon as pk
    >>> run = pk.experiments.reproduce(pk.demo_table().head(500), releases=1, quick=True)
    >>> sorted({statement.verdict for statement in run.statements})
    ['confirmed', 'corrected', 'not checked']
    """

    frame: pl.DataFrame = field(repr=False)
    source: str
    synthetic: bool
    seed: int
    releases: int
    quick: bool

    @cached_property
    def statements(self) -> list[Statement]:
        """What the paper says about its figures, each with a verdict and its numbers."""
        return statements(self.frame)

    def to_polars(self) -> pl.DataFrame:
        """One row per experiment, point, design and method."""
        return self.frame

    def to_json(self) -> dict[str, Any]:
        """Points, statements and how they were made, as JSON holds them."""
        return {
            "data": self.source,
            "synthetic": self.synthetic,
            "seed": self.seed,
            "releases": self.releases,
            "quick": self.quick,
            "statements": [
                {"figure": s.figure or None, "text": s.text, "verdict": s.verdict, "numbers": s.numbers}
                for s in self.statements
            ],
            "points": json_rows(self.frame),
        }

    def chart(self, experiment: str) -> altair.TopLevelMixin:
        """The figure of one ``experiment``: ``records``, ``attributes`` or ``k``."""
        from .charts import experiment_chart

        if experiment not in EXPERIMENTS:
            raise InputError(f"There is no experiment '{experiment}'. Available: {', '.join(EXPERIMENTS)}.")
        chart: altair.TopLevelMixin = experiment_chart(self.frame, experiment, self.source)
        return chart

    def save(self, path: str | Path, *, progress: Progress | None = None) -> None:
        """Write points, figures and page into the folder ``path``, which must not exist yet.

        ``progress`` is called with the name of a step and the share of it that is done.
        """
        check_folder(path)
        write_folder(path, lambda folder: self._write(folder, progress or quiet))

    def _write(self, folder: Path, progress: Progress) -> None:
        (folder / "points.csv").write_bytes(self.frame.write_csv().encode())
        charts = {
            f"figure{number}": partial(self.chart, experiment) for number, experiment in enumerate(EXPERIMENTS, 1)
        }
        page = html_page(
            self.frame,
            self.statements,
            draw(charts, folder, progress),
            self.source,
            synthetic=self.synthetic,
            seed=self.seed,
            quick=self.quick,
        )
        (folder / "index.html").write_bytes(page.encode())


def reproduce(
    data: object | None = None,
    *,
    seed: int = 1,
    releases: int | None = None,
    quick: bool = False,
    folder: str | Path | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Run the three experiments of the paper again and check what it says about them.

    Every release is seeded, so nothing here protects anybody: use data that may be seen.

    Parameters
    ----------
    data
        The raw UCI file of the US census of 1990, a recoded one, or a data frame that fits :func:`demo_schema`; the
        embedded synthetic table by default.
    seed
        Every random draw follows from it.
    releases
        How often each point is released: 8 times by default, or twice if ``quick``.
    quick
        Fewer points and fewer releases.
    folder
        Where to save figures and a page; nothing is saved by default. A folder that cannot be written is refused before
        anything is computed.
    progress
        Called with the name of a step and the share of it that is done.

    Examples
    --------
    >>> import pkanon as pk
    >>> run = pk.experiments.reproduce(pk.demo_table().head(500), releases=1, quick=True)
    >>> run.statements[0].text, run.statements[0].verdict
    ('Errors become smaller as the record count increases.', 'confirmed')
    """
    progress = progress or quiet
    check_seed(seed)
    count = releases if releases is not None else QUICK_RELEASES if quick else RELEASES
    check_count(count, "Each point needs at least one release.")
    if folder is not None:
        check_folder(folder)
    progress("reading", 0.0)
    census = read_census(data)
    progress("reading", 1.0)
    frame = measure(census, seed=seed, releases=count, quick=quick, progress=progress)
    result = Reproduction(frame, census.source, census.synthetic, seed, count, quick)
    if folder is not None:
        result.save(folder, progress=progress)
    return result
