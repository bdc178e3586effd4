"""What a report is about: a release, where it lies, and who publishes it; and numbers that several sections need."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .._plan import Channel, Plan, Readability, channels, share_above
from .._release import Certificate, Release
from .._schema import MISSING_LABEL, Attribute, value_to_text


@dataclass(frozen=True)
class Subject:
    """A release and its surroundings; ``folder`` is None for a release that lies in no folder."""

    release: Release
    folder: Path | None
    title: str
    organisation: str | None
    contact: str | None

    @property
    def plan(self) -> Plan:
        """What was done."""
        return self.release.plan

    @property
    def certificate(self) -> Certificate:
        """What is claimed."""
        return self.release.certificate

    @cached_property
    def names(self) -> list[str]:
        """The randomised attributes, in the order of the schema."""
        return [attribute.name for attribute in self.plan.schema.randomised]

    @cached_property
    def channels(self) -> dict[str, Channel]:
        """What happens to each randomised attribute."""
        return channels(self.plan)

    @cached_property
    def readable(self) -> Readability:
        """How tables of the rows released read."""
        return self.plan.readable(records=max(self.release.rows, 1))

    @cached_property
    def as_given(self) -> str:
        """The share of the rows that have every answer as it was given, in percent."""
        low, high = (share_above(share) for share in self.plan.unchanged)
        shares = low if low == high else f"{low} to {high}"
        rounded = ", numbers rounded to points" if self.plan.schema.pointed else ""
        return (shares if shares.startswith("less") else f"about {shares}") + rounded

    @cached_property
    def true_rows(self) -> str:
        """How many rows have every answer as it was given, in a sentence."""
        rows = self.release.rows
        low, high = (round(share * rows) for share in self.plan.unchanged)
        given = "as given, but for numbers rounded to points" if self.plan.schema.pointed else "as given"
        if high < 1:
            return f"Hardly any of the {rows:,} rows has every answer {given}."
        count = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        return f"About {count} of {rows:,} rows have every answer {given}."

    @property
    def folder_name(self) -> str:
        """How the folder is called in examples."""
        return "out" if self.folder is None else self.folder.resolve().name


def percent(share: float) -> str:
    """A share in percent with three digits; never 0% or 100% for what is neither."""
    shown = 100 * share
    if 0 < shown < 0.001:
        return "less than 0.001%"
    if 99.95 <= shown < 100:
        return f"{shown:.6g}%" if shown < 99.9999 else "more than 99.9999%"
    if shown >= 100:
        return f"{shown:,.0f}%"
    return f"{shown:.3g}%"


def texts(attribute: Attribute) -> list[str]:
    """The values of an attribute as people read them."""
    listed = [None if value is None else value_to_text(value) for value in attribute.labels()]
    missing = "(no value)" if MISSING_LABEL in listed else MISSING_LABEL
    return [missing if text is None else text for text in listed]


def number(value: float) -> str:
    """A count for people to read."""
    text = f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:,.1f}"
    return text.removeprefix("-") if not text.strip("-0.,") else text  # no minus before a zero
