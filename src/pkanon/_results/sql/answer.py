"""Answer: what a query gives, as data frames, JSON and text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..._frames import with_missing_label
from ..._schema import MISSING_LABEL
from ..columns import Columns, interval_title
from ..paper import Cell, PaperTable, number_cell
from ..tabular import Tabular, json_rows
from ..text import TextTable, interval_text, with_error

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Answer(Tabular):
    """The answer to a query: one row per group, every number with its standard error and its limits.

    Attributes
    ----------
    sql
        The query.
    frame
        A polars DataFrame with null for missing answers: a number called ``count`` stands in the columns ``count``, ``count_std_error``,
        ``count_low_95`` and ``count_high_95`` (by ``level``), with what must be said of it in ``count_flag``.
    notes
        How it was made, a sentence each.
    estimates
        The columns that are estimates.
    level
        The confidence level of the limits.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=20)
    >>> release = pk.release(pl.DataFrame({"sex": ["F", "M"] * 500}), plan, randomness=pk.Seeded(7))
    >>> answer = release.query("SELECT sex, COUNT(*) FROM release GROUP BY sex")
    >>> for line in answer.text_table().lines():
    ...     print(line)
    sex     count  95% interval
    ---  --------  ------------
    F    501 ± 14    475 to 528
    M    499 ± 14    472 to 525
    """

    sql: str
    frame: pl.DataFrame = field(repr=False)
    notes: tuple[str, ...]
    estimates: tuple[str, ...]
    level: float = 0.95

    def columns(self, name: str) -> Columns:
        """The names of the columns of a number: the value of ``name``, its error and its limits."""
        return Columns.named(name, self.level)

    def to_polars(self, *, missing_label: str | None = MISSING_LABEL) -> pl.DataFrame:
        """The answer as a polars DataFrame.

        ``missing_label`` stands for NULL among the groups; None writes null. Numbers that are not known stay null.
        """
        groups = [name for name in self._titles if name not in self.estimates]
        return with_missing_label(self.frame, groups, missing_label)

    def to_json(self) -> dict[str, Any]:
        """The answer and how it was made, as JSON holds it."""
        return {"sql": self.sql, "level": self.level, "notes": list(self.notes), "rows": json_rows(self.to_polars())}

    def text_table(self, most: int | None = None) -> TextTable:
        """The answer for people to read: each number as "value ± standard error", then its limits.

        Only its first ``most`` rows, if there is such a number.
        """
        frame = self.to_polars()
        frame = frame if most is None else frame.head(most)
        header: list[str] = []
        columns: list[list[str]] = []
        left: list[bool] = []
        for name in self._titles:
            if name not in self.estimates:
                header.append(name)
                columns.append([str(value) for value in frame[name].to_list()])
                left.append(True)
                continue
            values, errors, lows, highs = (frame[column].to_list() for column in self.columns(name))
            header += [name, interval_title(self.level)]
            columns.append([with_error(value, error) for value, error in zip(values, errors)])
            columns.append([interval_text(low, high, error) for low, high, error in zip(lows, highs, errors)])
            left += [False, False]
            flags = self.frame[self.columns(name).flag]
            if flags.count():
                header.append("")
                columns.append([flag or "" for flag in flags.head(frame.height).to_list()])
                left.append(True)
        return TextTable(header, [list(row) for row in zip(*columns)], left, self.frame.height - frame.height)

    def paper(self, *, interval: bool = False, caption: str | None = None) -> PaperTable:
        """The answer as a paper has it: rounded to the digits of the errors, with a caption and notes.

        Parameters
        ----------
        interval
            Show intervals instead of standard errors.
        caption
            What is shown; the query if not set.
        """
        columns: list[list[Cell]] = []
        for name in self._titles:
            if name in self.estimates:
                parts = self.columns(name)
                numbers = zip(*(self.frame[column].to_list() for column in (*parts, parts.flag)))
                columns.append(
                    [
                        number_cell(value, error, (low, high), flag, interval=interval)
                        for value, error, low, high, flag in numbers
                    ]
                )
            else:
                texts = (MISSING_LABEL if value is None else str(value) for value in self.frame[name].to_list())
                columns.append([Cell(text) for text in texts])
        labels = next(place for place, name in enumerate(self._titles) if name in self.estimates)
        shown = f"and {interval_title(self.level)}" if interval else "± standard error"
        return PaperTable(
            caption=caption or f"{' '.join(self.sql.split())} (estimate {shown})",
            stub=tuple(self._titles[:labels]),
            header=tuple(self._titles[labels:]),
            rows=tuple(zip(*columns)),
            notes=(*self.notes, "Rounded to two digits of the standard error; numbers without an error are exact."),
            numbers=self.frame,
        )

    @property
    def _titles(self) -> list[str]:
        """The columns of SELECT, without those of errors and limits."""
        every = (self.columns(name) for name in self.estimates)
        beside = {column for columns in every for column in (*columns, columns.flag)} - set(self.estimates)
        return [name for name in self.frame.columns if name not in beside]

    def rows_as_text(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows of :meth:`text_table`."""
        table = self.text_table()
        return table.header, table.rows

    def _captions(self) -> tuple[str, ...]:
        return self.notes

    def __str__(self) -> str:
        return "\n".join([*self.text_table().lines(), "", *self.notes])

    def __repr__(self) -> str:
        rows = self.frame.height
        return f"<Answer of {rows:,} row{'s' * (rows != 1)}: {', '.join(self._titles)}>"
