"""The embedded table, so that everything can be tried at once.

2,458,285 synthetic rows with seven attributes of the 1990 US census (sizes 2, 18, 12, 3, 3, 18, 20),
stored as counts of combinations. No row is a person: the counts were drawn from a model fitted to a
sample. Use it to see how the tool behaves, not to learn about 1990.
"""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING

import numpy as np

from .._schema import Schema, code_dtype, parse

if TYPE_CHECKING:
    import polars as pl


def demo_schema() -> Schema:
    """The schema of the embedded table.

    Examples
    --------
    >>> import pkanon as pk
    >>> pk.demo_schema().names
    ('sex', 'age', 'income', 'worked_1989', 'worked_last_week', 'education', 'travel_time')
    """
    return parse(files(__package__).joinpath("census.toml").read_text(encoding="utf-8"), "the demo schema")


def demo_table() -> pl.DataFrame:
    """The embedded table: one row per (synthetic) person.

    Examples
    --------
    >>> import pkanon as pk
    >>> pk.demo_table().shape
    (2458285, 7)
    """
    import polars as pl

    from .._frames import decode

    schema = demo_schema()
    with as_file(files(__package__).joinpath("census.csv.gz")) as file:
        counts = pl.read_csv(file)
    repeats = counts["count"].to_numpy()
    codes = {
        attribute.name: np.repeat(counts[attribute.name].to_numpy().astype(code_dtype(attribute.size)), repeats)
        for attribute in schema.randomised
    }
    return decode(schema, codes, None)
