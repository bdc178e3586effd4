"""CSV files whose columns are joined before they are written hold the bytes that polars writes for the columns apart."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkanon._errors import EnvironmentFailure
from pkanon._frames import Frames, write_csv
from pkanon._frames.write import output
from pkanon._frames.write.lines import WORTH_JOINING, Lines

ROWS = WORTH_JOINING
TRICKY = [
    "",
    "a",
    "a b",
    " a",
    "x,y",
    'say "hi"',
    '"',
    "two\nlines",
    "cr\rhere",
    "é",
    "007",
    "null",
    ";",
    "'",
    "\t",
    "\0",
]


def drawn(values: list[object], dtype: pl.DataType, seed: int) -> pl.Series:
    places = np.random.default_rng(seed).integers(0, len(values), ROWS)
    return pl.Series(values, dtype=dtype)[places.tolist()]


labels = st.lists(st.sampled_from(TRICKY) | st.text(max_size=4), min_size=1, max_size=6, unique=True)


@st.composite
def columns(draw: st.DrawFn) -> pl.Series:
    """A column of any kind that a release has, perhaps with missing values."""
    kind = draw(st.sampled_from(["texts", "small", "large", "boolean", "date", "number", "string"]))
    missing = [None] if draw(st.booleans()) else []
    seed = draw(st.integers(0, 1000))
    match kind:
        case "texts":
            found = draw(labels)
            return drawn([*found, *missing], pl.Enum(found), seed)
        case "small":
            low = draw(st.sampled_from([-128, -3, 0, 5, 120]))
            return drawn([*range(low, low + draw(st.integers(1, 7))), *missing], pl.Int8(), seed)
        case "large":
            return drawn([-(2**63), 0, 2**63 - 1, *missing], pl.Int64(), seed)
        case "boolean":
            return drawn([True, False, *missing], pl.Boolean(), seed)
        case "date":
            return drawn([dt.date(2024, 2, 29), dt.date(1900, 1, 1), *missing], pl.Date(), seed)
        case "number":
            return drawn([0.1, -1e300, 7.0, *missing], pl.Float64(), seed)
        case _:
            return drawn([*TRICKY, *missing], pl.String(), seed)


@given(st.lists(columns(), min_size=1, max_size=5))
def test_the_bytes_are_those_that_polars_writes(
    tmp_path_factory: pytest.TempPathFactory, found: list[pl.Series]
) -> None:
    frame = pl.DataFrame([column.alias(f"column,{i}") for i, column in enumerate(found)])
    path = tmp_path_factory.mktemp("lines") / "table.csv"
    write_csv(frame, path)
    assert path.read_bytes() == frame.write_csv().encode()


def test_pieces_with_other_values_are_joined_each_by_its_own_table(tmp_path: Path) -> None:
    whole = pl.DataFrame(
        {
            "a": drawn([1, 2, None], pl.Int8(), 1).append(drawn([-5, 7], pl.Int8(), 2)),
            "b": drawn(["x,y", "z"], pl.Enum(["x,y", "z"]), 3).append(drawn(["z", None], pl.Enum(["x,y", "z"]), 4)),
        }
    )
    pieces = [whole[:ROWS], whole[ROWS:]]
    write_csv(Frames(whole[:1], whole.height, lambda: iter(pieces)), tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_bytes() == whole.write_csv().encode()
    lines = Lines()
    assert all(lines.joined(piece) is not None for piece in pieces)


def test_what_is_told_while_a_frame_is_written_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "_PIECE", ROWS)
    frame = pl.DataFrame({"a": drawn([1, 2], pl.Int8(), 1).append(drawn([3], pl.Int8(), 2))})
    path, seen = tmp_path / "table.csv", []
    write_csv(frame, path, lambda: seen.append(path.read_bytes()))
    assert [part.count(b"\n") for part in seen] == [1 + ROWS, 1 + 2 * ROWS]
    assert seen[1].startswith(seen[0])
    assert seen[1] == path.read_bytes() == frame.write_csv().encode()


def test_a_large_domain_is_not_combined(tmp_path: Path) -> None:
    texts = [f"value {i}" for i in range(5000)]
    frame = pl.DataFrame(
        {"a": drawn(texts, pl.Enum(texts), 1), "b": drawn([1, 2], pl.Int8(), 2), "c": drawn([3, 4], pl.Int8(), 3)}
    )
    joined = Lines().joined(frame)
    assert joined is not None
    assert joined.columns == ["a", "1"]
    write_csv(frame, tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_bytes() == frame.write_csv().encode()
    quoted = [*texts, "with, comma"]
    assert Lines().joined(frame.with_columns(pl.col("a").cast(pl.String).cast(pl.Enum(quoted)))) is None


def test_an_empty_table_has_its_header_alone(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a,b": pl.Series([], dtype=pl.Enum(["x"])), "c": pl.Series([], dtype=pl.Int8)})
    write_csv(Frames(frame, 0, lambda: iter(())), tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_bytes() == b'"a,b",c\n'


def test_writing_that_stops_early_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({"a": drawn([1, 2, 3], pl.Int8(), 1), "b": pl.Series(range(ROWS))})
    monkeypatch.setattr(Lines, "joined", lambda self, piece: piece[:-1])
    with pytest.raises(EnvironmentFailure, match="stopped before its end"):
        write_csv(frame, tmp_path / "table.csv")


def test_pieces_that_end_early_are_noticed(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1, 2], "b": [3, 4]})
    with pytest.raises(EnvironmentFailure, match="stopped before its end"):
        write_csv(Frames(frame[:1], 3, lambda: iter([frame])), tmp_path / "table.csv")
