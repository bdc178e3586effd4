"""A run of the experiments, and its folder.

    out/points.csv                     every number
    out/figure1.png, .svg ... 3        the three figures
    out/index.html                     one page with everything, which loads nothing

The folder is written under another name and renamed when it is complete.
"""

from __future__ import annotations

import importlib.util
import os
import secrets
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from .._bundle import UNFINISHED, check_free
from .._errors import EnvironmentFailure, InputError
from .._frames import json_rows
from .census import read_census
from .page import html_page
from .paper import EXPERIMENTS, QUICK_RELEASES, RELEASES, measure
from .statements import Statement, statements

if TYPE_CHECKING:
    import altair

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Reproduction:
    """The experiments of the paper, measured: ``to_polars()`` has every number, ``save(folder)`` figures and a page.

    ``source`` names the data, ``statements`` says what the numbers confirm and correct.
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
        """The figure of one experiment: ``records``, ``attributes`` or ``k``."""
        from .._report.experiments import experiment_chart

        if experiment not in EXPERIMENTS:
            raise InputError(f"There is no experiment '{experiment}'. Available: {', '.join(EXPERIMENTS)}.")
        chart: altair.TopLevelMixin = experiment_chart(self.frame, experiment, self.source)
        return chart

    def save(self, path: str | Path, *, progress: Progress | None = None) -> None:
        """Write points, figures and page into a folder that does not exist yet."""
        folder = Path(path)
        check_free(folder)
        _check_charts()
        told = progress or _quiet
        unfinished = folder.parent / f".{folder.name}.{secrets.token_hex(4)}{UNFINISHED}"
        failed: OSError | None = None
        try:
            unfinished.mkdir()
            self._write(unfinished, told)
            check_free(folder)  # drawing takes a while
            os.rename(unfinished, folder)
        except BaseException as error:
            with suppress(OSError):
                shutil.rmtree(unfinished)
            if not isinstance(error, OSError):
                raise
            failed = error
        if failed is not None:
            raise EnvironmentFailure(f"Cannot write {folder}: {failed.strerror or 'the disk failed'}.")

    def _write(self, folder: Path, told: Progress) -> None:
        from .._report.experiments import save_chart

        (folder / "points.csv").write_bytes(self.frame.write_csv().encode())
        drawn = []
        for number, experiment in enumerate(EXPERIMENTS, 1):
            told("drawing", (number - 1) / len(EXPERIMENTS))
            chart = self.chart(experiment)
            for ending in ("png", "svg"):
                save_chart(chart, folder / f"figure{number}.{ending}")
            drawn.append((folder / f"figure{number}.svg").read_text(encoding="utf-8"))
        page = html_page(
            self.frame, self.statements, drawn, self.source, synthetic=self.synthetic, seed=self.seed, quick=self.quick
        )
        (folder / "index.html").write_bytes(page.encode())
        told("drawing", 1.0)


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

    ``data``: the raw UCI file of the US census of 1990, a recoded one, a data frame that fits ``demo_schema()``, or
    None for the embedded synthetic table. ``releases`` of each point (8; 2 if ``quick``, which also takes fewer points).
    ``folder``: also save there; what would make that impossible is refused before anything is computed.
    Every release is seeded, so nothing here protects anybody: use data that may be seen.
    """
    told = progress or _quiet
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InputError("The seed is a whole number, 0 or more.")
    count = releases if releases is not None else QUICK_RELEASES if quick else RELEASES
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise InputError("Each point needs at least one release.")
    if folder is not None:
        check_free(folder)
        _check_charts()
    told("reading", 0.0)
    census = read_census(data)
    told("reading", 1.0)
    frame = measure(census, seed=seed, releases=count, quick=quick, progress=lambda share: told("measuring", share))
    result = Reproduction(frame, census.source, census.synthetic, seed, count, quick)
    if folder is not None:
        result.save(folder, progress=progress)
    return result


def _check_charts() -> None:
    from .._report.experiments import save_chart  # noqa: F401  says what to install

    if importlib.util.find_spec("vl_convert") is None:
        raise EnvironmentFailure("Figures need the package vl-convert-python; install pkanon[charts].")


def _quiet(step: str, done: float) -> None:
    pass
