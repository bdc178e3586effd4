"""What an advice chooses from: for every column its versions, finest first, and whether it may be dropped.

A choice is one number per column: which version, or one past the last for a dropped column. What a choice is worth: two for
every column that is there, and one for every doubling of its values up to 16. Columns that were named count twice.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..._schema import Attribute, Schema
from .forecast import Column, forecast
from .ladder import coarser

ENOUGH = 16
"""Values of a column beyond which more are worth nothing: a column of very many should not push out two others."""

Choice = tuple[int, ...]
Tables = tuple[int, ...]
"""A table, by the numbers of its columns in rising order."""


@dataclass(frozen=True)
class Ladder:
    """The versions of one column, finest first."""

    versions: tuple[Attribute, ...]
    droppable: bool
    named: bool
    unit: int | None = None
    """The number of its bundle, if it is in one."""

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.versions[0].name

    @property
    def end(self) -> int:
        """One past the last choice."""
        return len(self.versions) + self.droppable

    def worth(self, place: int) -> float:
        """What a version is worth."""
        if place >= len(self.versions):
            return 0.0
        return (2 + math.log2(min(self.versions[place].size, ENOUGH))) * (2 if self.named else 1)


@dataclass(frozen=True)
class Space:
    """All choices for a schema."""

    schema: Schema
    ladders: tuple[Ladder, ...]

    @classmethod
    def of(cls, schema: Schema, named: Sequence[str], codes: Sequence[str]) -> Space:
        """The choices for a schema: columns ``named`` are never dropped, those of ``codes`` never merged."""
        bundles = {name: number for number, bundle in enumerate(schema.bundles) for name in bundle.attributes}
        ladders = []
        for attribute in schema.randomised:
            bundled = attribute.name in bundles
            merged = [] if bundled or attribute.name in codes else coarser(attribute)
            ladders.append(
                Ladder(
                    (attribute, *merged),
                    not bundled and attribute.name not in named,
                    attribute.name in named,
                    bundles.get(attribute.name),
                )
            )
        return cls(schema, tuple(ladders))

    @cached_property
    def given(self) -> Choice:
        """The schema as it is."""
        return (0,) * len(self.ladders)

    @cached_property
    def coarsest(self) -> Choice:
        """The smallest schema there is: every column dropped or at its coarsest."""
        return tuple(ladder.end - 1 for ladder in self.ladders)

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        """Rows columns, columns places: how many values; 0 where a column is dropped."""
        table = np.zeros((len(self.ladders), max(ladder.end for ladder in self.ladders)))
        for number, ladder in enumerate(self.ladders):
            table[number, : len(ladder.versions)] = [version.size for version in ladder.versions]
        return table

    @cached_property
    def _worths(self) -> list[list[float]]:
        return [[ladder.worth(place) for place in range(ladder.end)] for ladder in self.ladders]

    @cached_property
    def bundles(self) -> list[float]:
        """The sizes of the bundles, which never change."""
        return [float(self.schema.unit(bundle.attributes).size) for bundle in self.schema.bundles]

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """Which columns are units of their own."""
        return np.array([ladder.unit is None for ladder in self.ladders])

    def kept(self, choice: Choice) -> list[int]:
        """The columns that are there."""
        return [number for number, place in enumerate(choice) if place < len(self.ladders[number].versions)]

    def size(self, choice: Choice, number: int) -> int:
        """The values of a column that is there."""
        return self.ladders[number].versions[choice[number]].size

    def worth(self, choice: Choice) -> float:
        """What a choice is worth."""
        return sum(worths[place] for worths, place in zip(self._worths, choice))

    def pairs(self, choice: Choice) -> list[Tables]:
        """The tables of one and two columns."""
        kept = self.kept(choice)
        return [*((number,) for number in kept), *itertools.combinations(kept, 2)]

    def units(self, choice: Choice) -> tuple[list[int], dict[int, Column]]:
        """The sizes of all units, and every column that is there with the number of its unit."""
        sizes: list[int] = []
        columns: dict[int, Column] = {}
        bundles: dict[int, int] = {}
        for number in self.kept(choice):
            size, bundle = self.size(choice, number), self.ladders[number].unit
            if bundle is None:
                columns[number] = Column(len(sizes), size)
                sizes.append(size)
                continue
            if bundle not in bundles:
                bundles[bundle] = len(sizes)
                sizes.append(int(self.bundles[bundle]))
            columns[number] = Column(bundles[bundle], size)
        return sizes, columns

    def forecast(
        self,
        choice: Choice,
        epsilon: float,
        records: int,
        extra: Mapping[Tables, float],
        served: Sequence[Tables] | None = None,
    ) -> dict[Tables, float]:
        """The errors of ``served`` tables, by default of all of one and two columns, and of ``extra`` ones with their weights."""
        sizes, columns = self.units(choice)
        tables = dict.fromkeys(self.pairs(choice) if served is None else served, 1.0)
        for table, weight in extra.items():
            tables[table] = tables.get(table, 0.0) + weight
        order = sorted(columns)
        place = {number: position for position, number in enumerate(order)}
        renamed = {tuple(place[number] for number in table): weight for table, weight in tables.items()}
        found = forecast(sizes, [columns[number] for number in order], renamed, epsilon, records)
        return {table: found[key] for table, key in zip(tables, renamed)}

    def attributes(self, choice: Choice) -> list[Attribute]:
        """All attributes of the schema, those that were chosen in their version or dropped."""
        chosen = {ladder.name: (ladder, place) for ladder, place in zip(self.ladders, choice)}
        attributes = []
        for attribute in self.schema.attributes:
            ladder, place = chosen.get(attribute.name, (None, 0))
            if ladder is None or place == 0:
                attributes.append(attribute)
            elif place < len(ladder.versions):
                attributes.append(ladder.versions[place])
            else:
                attributes.append(Attribute(attribute.name, type=attribute.type, role="drop"))
        return attributes

    def chosen_schema(self, choice: Choice) -> Schema:
        """The schema of a choice; it is drafted if the schema it comes from is."""
        return replace(self.schema, attributes=tuple(self.attributes(choice)))
