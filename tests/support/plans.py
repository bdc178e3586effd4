"""Schemas and plans of whole numbers: by the sizes of attributes, or for blocks that a test has written down."""

from collections.abc import Iterable, Sequence

import pkanon as pk
from pkanon._blocks import Block


def schema_of(sizes: Iterable[int]) -> pk.Schema:
    """Attributes a0, a1, ... with values 1 to their size."""
    return pk.Schema([pk.Attribute.ranged(f"a{i}", 1, size) for i, size in enumerate(sizes)])


def schema_for(blocks: Iterable[Block]) -> pk.Schema:
    """The attributes of these blocks, with values 1 to their size."""
    units = [unit for block in blocks for unit in block.units]
    sizes = {name: size for unit in units for name, size in zip(unit.attributes, unit.sizes)}
    return pk.Schema([pk.Attribute.ranged(name, 1, size) for name, size in sizes.items()])


def plan_of(blocks: Sequence[Block], records: int) -> pk.Plan:
    """A plan that does what these blocks do."""
    return pk.Plan(schema_for(blocks), tuple(blocks), records)
