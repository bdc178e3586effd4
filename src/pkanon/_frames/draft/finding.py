"""What a draft found about a column that a person must look into. It never holds a value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """A few words for a table, and a sentence without its subject, which is the column.

    ``counted`` is a sentence with a number of people. It is said, but not written into the file of the draft, which will be
    public one day: the number of people may be hidden.
    """

    short: str
    sentence: str
    counted: str = ""

    def about(self, name: str) -> str:
        """The sentence about the column ``name``."""
        return f"Column {quoted(name)} {self.sentence}"

    def said(self, name: str) -> str:
        """All that is said about the column ``name``."""
        return f"{self.about(name)} {self.counted}".rstrip()


def quoted(name: str) -> str:
    """A name in quotes, on one line whatever it holds."""
    return f"'{name}'" if name.isprintable() else ascii(name)
