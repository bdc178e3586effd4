"""A table for a paper: rows and columns of finished texts, a caption that says what is shown, notes that say how it was made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from ..._errors import InputError
from ..._estimate import FLAG_MEANING
from ..._files import write_new
from .numbers import rounded_interval, rounded_number

MARKS = {
    "near zero": "†",
    "predicted error": "‡",
    "small group": "§",
    "out of range": "¶",
    "model differs": "‖",
    "impossible": "–",
}
"""The mark of each flag. Stars would be read as significance, which is the opposite."""
LAYOUTS = ("cross", "long")
EXCEL_ROWS, EXCEL_COLUMNS = 1_048_576, 16_384


@dataclass(frozen=True)
class Cell:
    """A text and what must be said of it."""

    text: str
    flag: str | None = None

    @property
    def marks(self) -> str:
        """The marks of its flags."""
        return "".join(mark for word, mark in MARKS.items() if word != "impossible" and word in (self.flag or ""))


def number_cell(
    value: float | None,
    error: float | None,
    limits: tuple[float | None, float | None],
    flag: str | None,
    *,
    interval: bool = False,
    scale: float = 1.0,
) -> Cell:
    """An estimated number in a cell: with its standard error, or with its ``interval``; times ``scale``."""
    if flag == "impossible":
        return Cell(MARKS["impossible"], flag)
    value, error, low, high = (None if x is None else scale * x for x in (value, error, *limits))
    text = rounded_number(value, error)
    if interval:
        text = f"{text.partition(' ±')[0]} ({rounded_interval(low, high, error)})"
    return Cell(text, flag)


@dataclass(frozen=True)
class PaperTable:
    """A table for a paper: numbers rounded to the digits of their errors, a caption above, notes below.

    Attributes
    ----------
    caption
        What is shown, in one sentence.
    stub
        The titles of the columns of labels, which stand to the left.
    header
        The titles of the columns of numbers.
    span, spanned
        A title over the first ``spanned`` columns of numbers; None if there is none.
    rows
        The cells, row by row, labels first; each has a ``text`` and a ``flag``.
    notes
        How the numbers were made, and what the marks beside them mean.
    numbers
        The same numbers in full, as a polars DataFrame.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=20)
    >>> release = pk.release(pl.DataFrame({"sex": ["F", "M"] * 500}), plan, randomness=pk.Seeded(7))
    >>> print(release.crosstab("sex").paper().to_markdown().splitlines()[0])
    **Number and share of people by sex (estimate ± standard error).**
    """

    caption: str
    stub: tuple[str, ...]
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...] = field(repr=False)
    notes: tuple[str, ...] = field(repr=False)
    span: str | None = None
    spanned: int = 0
    numbers: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)

    @property
    def all_notes(self) -> tuple[str, ...]:
        """The notes, and what each mark means that a cell has."""
        return (*self.notes, *(f"{mark} {word}: {FLAG_MEANING[word]}." for word, mark in self._marked()))

    def _marked(self) -> Iterator[tuple[str, str]]:
        flags = {cell.flag for row in self.rows for cell in row if cell.flag}
        for word, mark in MARKS.items():
            if any(word in flag for flag in flags):
                yield word, mark

    def to_latex(self, *, label: str | None = None) -> str:
        r"""The table in LaTeX, for the package booktabs: \\usepackage{booktabs}.

        A wide one is made smaller where it has to be (graphicx), a long one goes over pages (longtable); the first line
        names what it needs. ``label``: what \\ref calls it.
        """
        from .latex import latex

        return latex(self, label)

    def to_html(self) -> str:
        """The table as a piece of HTML that stands alone: no scripts, no style sheets."""
        from .html import html

        return html(self)

    def to_markdown(self) -> str:
        """The table in Markdown, with pipes, as GitHub, Pandoc and Quarto read it."""
        from .markdown import markdown

        return markdown(self)

    def to_excel(self, path: str | Path) -> None:
        """Write an Excel file that does not exist yet.

        One sheet has the table as it would be printed, the other its numbers in full. ``path`` is the file.
        """
        if Path(path).suffix.lower() != ".xlsx":
            raise InputError(f"{path}: a table for Excel is written as .xlsx; rename the file.")
        write_new(path, self.excel_bytes())

    def excel_bytes(self) -> bytes:
        """The content of the file that :meth:`to_excel` writes."""
        from .excel import excel

        if max(len(self.rows), self.numbers.height) > EXCEL_ROWS - 100 or len(self.header) > EXCEL_COLUMNS - 100:
            raise InputError("The table is too large for Excel; write it as .csv or .parquet.")
        return excel(self)

    def _repr_html_(self) -> str:
        """The table as a notebook shows it."""
        return self.to_html()

    def __str__(self) -> str:
        return self.to_markdown()


def check_layout(layout: str) -> str:
    """The layout, ``cross`` or ``long``; anything else is refused."""
    if layout not in LAYOUTS:
        raise InputError(f"layout is 'cross' or 'long', not '{layout}'.")
    return layout


def texts(cells: Sequence[Cell]) -> list[str]:
    """Cells as plain texts, marks included."""
    return [cell.text + cell.marks for cell in cells]
