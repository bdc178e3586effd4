"""A comparison, and its folder.

out/comparison.csv                      every number
out/tables.png, .svg, queries, ...      the figures
out/index.html                          one page with everything, which loads nothing
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from ..._design import Workload
from ..._errors import InputError
from ..._files import write_folder
from ..._frames import TextFormat
from ..._progress import Progress, quiet
from ..._results import json_rows
from ..seeds import check_count, check_seed
from ..writing import check_folder, draw
from .findings import TITLES, Finding, findings
from .measure import Bench, measure
from .page import html_page
from .people import People, read_ks, read_people, usable

if TYPE_CHECKING:
    import altair

KS = (2, 5, 10, 50, 100, 1000)
RELEASES, QUICK_RELEASES = 4, 1
QUERIES = 1000


@dataclass(frozen=True)
class Comparison:
    """Randomisation against k-anonymisation: ``to_polars()`` has every number, ``save(folder)`` figures and a page.

    Attributes
    ----------
    frame
        Every number.
    source, synthetic
        The name of the data, and whether they are synthetic.
    sizes
        How many values each attribute has.
    target
        The attribute that is guessed and classified.
    ks, left_out
        The k that were compared, and those for which there were too few rows.
    seed, releases, queries, workload, quick
        As asked for in :func:`experiments.compare`.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["F", "M"] * 100, "rooms": [1, 2, 2, 3, 4] * 40})
    >>> schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("rooms", 1, 5)])
    >>> comparison = pk.experiments.compare(people, schema, ks=[5, 100], queries=20, quick=True)
    >>> comparison.ks, comparison.left_out, comparison.target
    ((5,), (100,), 'rooms')
    """

    frame: pl.DataFrame = field(repr=False)
    source: str
    synthetic: bool
    sizes: dict[str, int]
    target: str
    ks: tuple[int, ...]
    left_out: tuple[int, ...]
    seed: int
    releases: int
    queries: int
    workload: int | str
    quick: bool

    @cached_property
    def findings(self) -> list[Finding]:
        """What came out, computed from the numbers."""
        return findings(self.frame)

    @property
    def titles(self) -> dict[str, str]:
        """What each measure is, in words."""
        return {measure: TITLES[measure] for measure in dict.fromkeys(self.frame["measure"].to_list())}

    @property
    def about(self) -> str:
        """What was compared, in a few sentences."""
        sizes = ", ".join(f"{name} ({size})" for name, size in self.sizes.items())
        releases = f"{self.releases} seeded release{'s' * (self.releases > 1)}"
        text = (
            f"Attributes and how many values they have: {sizes}. Target: {self.target}. {releases} of each randomised point; "
            f"{self.queries:,} random queries. The optimal design is made for {self._served}."
        )
        if self.left_out:
            text += f" Left out, as k goes up to a fifth of the rows: k = {', '.join(f'{k:,}' for k in self.left_out)}."
        if "inference" not in set(self.frame.drop_nulls("k")["measure"]):
            text += " The table has too many possible combinations for the adversaries; they were left out."
        return text

    @property
    def _served(self) -> str:
        return (
            "the table of all attributes" if self.workload == "full" else f"tables of up to {self.workload} attributes"
        )

    def to_polars(self) -> pl.DataFrame:
        """One row per k, way of publishing and measure; without k: what to compare with."""
        return self.frame

    def to_json(self) -> dict[str, Any]:
        """Numbers, findings and how they were made, as JSON holds them."""
        return {
            "data": self.source,
            "synthetic": self.synthetic,
            "attributes": self.sizes,
            "target": self.target,
            "k": list(self.ks),
            "left_out": list(self.left_out),
            "seed": self.seed,
            "releases": self.releases,
            "queries": self.queries,
            "workload": self.workload,
            "quick": self.quick,
            "findings": [asdict(finding) for finding in self.findings],
            "numbers": json_rows(self.frame),
        }

    def chart(self, figure: str = "tables") -> altair.TopLevelMixin:
        """The ``figure`` of this name: ``tables``, ``queries``, ``classifier`` or ``risks``."""
        from .charts import FIGURES, comparison_chart

        if figure not in FIGURES:
            raise InputError(f"There is no figure '{figure}'. Available: {', '.join(FIGURES)}.")
        chart: altair.TopLevelMixin = comparison_chart(self.frame, figure, self.source)
        return chart

    def save(self, path: str | Path, *, progress: Progress | None = None) -> None:
        """Write numbers, figures and page into the folder ``path``, which must not exist yet.

        ``progress`` is called with the name of a step and the share of it that is done.
        """
        check_folder(path)
        write_folder(path, lambda folder: self._write(folder, progress or quiet))

    def _write(self, folder: Path, progress: Progress) -> None:
        from .charts import FIGURES

        (folder / "comparison.csv").write_bytes(self.frame.write_csv().encode())
        drawn = draw({name: partial(self.chart, name) for name in FIGURES}, folder, progress)
        figures = {name: (svg, measures) for (name, (_, measures)), svg in zip(FIGURES.items(), drawn)}
        page = html_page(
            self.frame, self.findings, figures, self.about, self.source,
            synthetic=self.synthetic, seed=self.seed, quick=self.quick,
        )  # fmt: skip
        (folder / "index.html").write_bytes(page.encode())


def compare(
    table: object | None = None,
    schema: object | None = None,
    *,
    ks: Iterable[int] | None = None,
    seed: int = 1,
    releases: int | None = None,
    queries: int = QUERIES,
    target: str | None = None,
    workload: int | str = 2,
    quick: bool = False,
    folder: str | Path | None = None,
    text: TextFormat | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Publish a table by randomisation and by classical k-anonymisation (Mondrian) at the same k, and compare.

    Bundles count as single attributes, and columns that are not randomised are left out.
    Every release is seeded, so nothing here protects anybody: use data that may be seen.

    Parameters
    ----------
    table
        A data frame or the path of a file; the embedded synthetic table by default.
    schema
        Its schema, or the path of a file with it; needed with ``table``.
    ks
        The k to compare at: 2, 5, 10, 50, 100 and 1000 by default, or three of them if ``quick``.
    seed
        Every random draw follows from it.
    releases
        How often each randomised point is released: 4 times by default, or once if ``quick``.
    queries
        How many random queries are asked.
    target
        The attribute that an adversary guesses and a classifier learns; by default income of the embedded table, else
        the last one.
    workload
        What the optimal design serves: tables of up to this many attributes, or "full".
    quick
        Fewer k and fewer releases.
    folder
        Where to save figures and a page; nothing is saved by default.
    text
        Delimiter and encoding, if the table is a text file.
    progress
        Called with the name of a step and the share of it that is done.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["F", "M"] * 500, "rooms": [1, 2, 2, 3, 4] * 200})
    >>> schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("rooms", 1, 5)])
    >>> comparison = pk.experiments.compare(people, schema, ks=[5], queries=20, quick=True)
    >>> linkage = comparison.to_polars().filter(measure="linkage")  # the share of people whose row is picked
    >>> bool((linkage["value"] <= 1 / 5).all())
    True
    """
    progress = progress or quiet
    check_seed(seed)
    count = releases if releases is not None else QUICK_RELEASES if quick else RELEASES
    check_count(count, "Each point needs at least one release.")
    check_count(queries, "A comparison needs at least one query.")
    wanted = read_ks(KS if ks is None else ks)
    served = Workload.of(workload)
    if served.listed:
        raise InputError("The workload of a comparison is a number of attributes, or full.")
    if folder is not None:
        check_folder(folder)
    progress("reading", 0.0)
    people = read_people(table, schema, target, text)
    possible, left_out = usable(wanted, people.rows)
    progress("reading", 1.0)
    chosen = sorted({possible[0], possible[len(possible) // 2], possible[-1]}) if quick and ks is None else possible
    tables = "full" if served.most is None else min(served.most, len(people.names))
    frame = measure(Bench(people, seed, queries, tables), chosen, count, progress)
    result = _result(
        people, frame, chosen, left_out, seed=seed, releases=count, queries=queries, workload=tables, quick=quick
    )
    if folder is not None:
        result.save(folder, progress=progress)
    return result


def _result(people: People, frame: pl.DataFrame, ks: list[int], left_out: list[int], **how: Any) -> Comparison:
    return Comparison(
        frame=frame,
        source=people.source,
        synthetic=people.synthetic,
        sizes=dict(zip(people.names, people.sizes)),
        target=people.names[people.target],
        ks=tuple(ks),
        left_out=tuple(left_out),
        **how,
    )
