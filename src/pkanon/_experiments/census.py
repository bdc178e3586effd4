"""The data of the experiments: seven attributes of the US census of 1990, as codes.

Three shapes are read, plain or packed with gzip or bzip2:

    raw        the UCI file USCensus1990raw.data.txt (125 columns, tabs, no header), or any text file whose header
               has the raw columns; they are rounded by the rules below
    recoded    a text file with the seven codes, named as here (sex, age18, inc12, ...) or as in the embedded table; a
               column ``count`` says how many rows each line stands for
    labelled   a data frame or file that fits the embedded schema

The paper does not say how it rounded. Sex, work and education are as they come and travel time // 5 gives exactly
its 20 values. Age (19 values by // 5, so the last two are merged) and income (a guess that fills 12 classes) are our choice.
"""

from __future__ import annotations

import bz2
import gzip
import io
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from .._demo import demo_schema, demo_table
from .._errors import DataError, InputError
from .._frames import decode, encode, guarded
from .._schema import Codes, Schema, code_dtype

EMBEDDED = "the embedded table (synthetic, modelled on the 1990 US census)"
FEWEST = 500
"""Enough for two points on every axis: 245 records and all, k = 2 and 100."""
MOST_ROWS = 10**8
"""Rows of one combination, if a file has counts."""
RAW_COLUMNS = 125
RAW = {"SEX": 112, "AGE": 12, "RPINCOME": 104, "WORK89": 119, "WORKLWK": 120, "YEARSCH": 122, "TRAVTIME": 116}
"""The raw columns in the order of the attributes, and their places in the UCI file, which has no header."""
RECODED = ("sex", "age18", "inc12", "work89", "worklwk", "yearsch", "trav20")
LARGEST = {"SEX": 1, "AGE": 90, "WORK89": 2, "WORKLWK": 2, "YEARSCH": 17, "TRAVTIME": 99}
"""The largest value a raw column can have; the smallest is 0. Income is a signed number of dollars."""


@dataclass(frozen=True)
class Census:
    """A table that fits the embedded schema, and what it is called in figures."""

    name: str
    table: pl.DataFrame
    schema: Schema
    synthetic: bool

    @property
    def source(self) -> str:
        """The name with the number of rows."""
        return f"{self.name}, {self.table.height:,} rows"


def read_census(data: object | None) -> Census:
    """The embedded table (None), a file, or a data frame that fits the embedded schema."""
    schema = demo_schema()
    if data is None:
        return Census(EMBEDDED, demo_table(), schema, synthetic=True)
    if isinstance(data, (str, Path)):
        codes, kind = _from_file(Path(data), schema)
        name = f"{Path(data).name} ({kind})"
    else:
        codes, name = dict(encode(data, schema).codes), "a table given in Python"
    table = decode(schema, codes, None)
    if table.height < FEWEST:
        raise DataError(f"The experiments need at least {FEWEST} rows, and {name} has {table.height:,}.")
    return Census(name, table, schema, synthetic=False)


def recode(raw: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """The codes of the seven attributes from the raw columns."""
    income = raw["RPINCOME"]
    bands = np.clip(income // 10_000 + 2, 2, 11)  # 1-9,999 is class 2, 90,000 and more is class 11
    return [
        raw["SEX"],
        np.minimum(raw["AGE"] // 5, 17),
        np.where(income < 0, 0, np.where(income == 0, 1, bands)),
        raw["WORK89"],
        raw["WORKLWK"],
        raw["YEARSCH"],
        raw["TRAVTIME"] // 5,
    ]


def _from_file(path: Path, schema: Schema) -> tuple[dict[str, Codes], str]:
    if path.suffix == ".parquet":
        return dict(encode(path, schema).codes), "labelled"
    source, first = _open(path)
    delimiter = "\t" if "\t" in first else ","
    header = [name.strip().strip('"') for name in first.split(delimiter)]
    names = [attribute.name for attribute in schema.randomised]
    if set(RAW) <= set(header):
        columns = _numbers(source, delimiter, {name: header.index(name) for name in RAW}, header=True)
        return _coded(schema, recode(_checked(columns, LARGEST))), "raw columns, recoded"
    if len(header) == RAW_COLUMNS and "AGE" not in header:
        columns = _numbers(source, delimiter, RAW, header=False)
        return _coded(schema, recode(_checked(columns, LARGEST))), "raw columns, recoded"
    for known in (RECODED, names):
        if set(known) <= set(header) and not (known == names and _labelled(source, delimiter, names)):
            wanted = (*known, "count") if "count" in header else known
            columns = _numbers(source, delimiter, {name: header.index(name) for name in wanted}, header=True)
            largest = {name: attribute.size - 1 for name, attribute in zip(known, schema.randomised)}
            numbers = _checked(columns, largest | {"count": MOST_ROWS})
            repeats = numbers.pop("count", 1)
            return _coded(schema, [np.repeat(values, repeats) for values in numbers.values()]), "recoded"
    if set(names) <= set(header):
        return dict(encode(path, schema).codes), "labelled"
    raise InputError(
        f"{path.name} is not one of the files that can be used: the raw UCI file ({RAW_COLUMNS} columns, or a header with "
        f"{', '.join(RAW)}), or a recoded one with the columns {', '.join(RECODED)}."
    )


def _open(path: Path) -> tuple[Path | bytes, str]:
    """What polars can read, and the first line."""
    problem = f"{path} cannot be read: it must be a text file, plain or packed with gzip or bzip2."
    try:
        with open(path, "rb") as file:
            start = file.read(3)
        if start == b"BZh":
            content: Path | bytes = bz2.decompress(path.read_bytes())
        elif start[:2] == b"\x1f\x8b":
            content = gzip.decompress(path.read_bytes())
        else:
            content = path
        with io.BytesIO(content) if isinstance(content, bytes) else open(content, "rb") as lines:
            first = lines.readline(1 << 16).decode("utf-8-sig").rstrip("\r\n")
    except FileNotFoundError:
        raise InputError(f"{path} does not exist.") from None
    except (OSError, EOFError, ValueError, zlib.error):
        first = ""
    if not first:
        raise InputError(problem)
    return content, first


def _labelled(source: Path | bytes, delimiter: str, names: list[str]) -> bool:
    """Whether the first rows hold texts rather than codes."""
    head = guarded(
        "The file is not a table of values divided by commas or tabs.",
        pl.read_csv, source, separator=delimiter, infer_schema=False, n_rows=100, columns=names,
    )  # fmt: skip
    return any(not (value or "").strip().isdigit() for column in head for value in column)


def _numbers(
    source: Path | bytes, delimiter: str, places: Mapping[str, int], *, header: bool
) -> dict[str, np.ndarray | None]:
    """Whole numbers of some columns; None for a column with anything else in it."""
    wanted = sorted(places.values())
    frame = guarded(
        "The file is not a table of values divided by commas or tabs, or its lines differ in length.",
        pl.read_csv, source, separator=delimiter, has_header=header, columns=wanted, infer_schema=False,
    )  # fmt: skip
    columns: dict[str, np.ndarray | None] = {}
    for name, place in places.items():
        column = frame.to_series(wanted.index(place)).str.strip_chars().cast(pl.Int64, strict=False)
        columns[name] = None if column.null_count() else column.to_numpy()
    return columns


def _checked(columns: Mapping[str, np.ndarray | None], largest: Mapping[str, int]) -> dict[str, np.ndarray]:
    found = {}
    for name, values in columns.items():
        if values is None:
            raise DataError(f"Column '{name}' has values that are no whole numbers, or lines are cut short.")
        if name in largest:
            outside = int(((values < 0) | (values > largest[name])).sum())
            if outside:
                raise DataError(f"Column '{name}' must lie between 0 and {largest[name]}; {outside:,} rows do not.")
        found[name] = values
    return found


def _coded(schema: Schema, columns: list[np.ndarray]) -> dict[str, Codes]:
    return {
        attribute.name: values.astype(code_dtype(attribute.size))
        for attribute, values in zip(schema.randomised, columns)
    }
