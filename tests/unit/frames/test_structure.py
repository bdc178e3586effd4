"""The bytes of a text file against a reader that follows RFC 4180 letter by letter."""

import random

import polars as pl
import pytest

from pkanon._errors import DataError
from pkanon._frames import encode
from pkanon._frames.read.opening import open_source
from pkanon._frames.read.structure import Look, look, records, separators, stray_quotes, uneven_lines
from pkanon._frames.read.textformat import PLAIN
from pkanon._schema import Attribute, Schema


def strict_rows(text: str, width: int) -> list[tuple[str | None, ...]] | None:
    """The rows of ``text``, None for an unquoted empty field; None where it is not well-formed."""
    rows, at, end = [], 0, len(text)
    while at < end:
        row: list[str | None] = []
        while True:
            if text[at : at + 1] == '"':
                value, at = [], at + 1
                while True:
                    if at >= end:
                        return None
                    if text[at] == '"' and text[at : at + 2] != '""':
                        break
                    value.append(text[at])
                    at += 2 if text[at] == '"' else 1
                at += 1
                row.append("".join(value))
                if at < end and text[at] not in ",\n":
                    return None
            else:
                stop = min((i for i in (text.find(mark, at) for mark in ",\n") if i >= 0), default=end)
                field, at = text[at:stop], stop
                if '"' in field:
                    return None
                row.append(field or None)
            if at >= end or text[at] == "\n":
                at += 1
                break
            at += 1
        if len(row) != width:
            return None
        rows.append(tuple(row))
    return rows


def random_text(rng: random.Random, width: int) -> str:
    if rng.random() < 0.5:
        return "".join(rng.choice(',,x"\n\n ') for _ in range(rng.randint(1, 16)))
    fields = ["x", "", '""', '"x"', '"a,b"', '"a\nb"', '"q""r"', " x", 'x"', '"x', "x "]
    weights = [6, 2, 1, 2, 1, 1, 1, 1, 0.2, 0.2, 1]
    lines = []
    for _ in range(rng.randint(1, 5)):
        count = width if rng.random() < 0.9 else rng.randint(1, 4)
        lines.append(",".join(rng.choices(fields, weights, k=count)))
    return "\n".join(lines) + rng.choice(["", "\n"])


def random_files(path, seed):
    """Writes one file after the other to ``path``; gives its width and its rows, None where it is not well-formed."""
    rng = random.Random(seed)
    for _ in range(1500):
        width = rng.choice([2, 3])
        text = random_text(rng, width)
        path.write_text(",".join("abc"[:width]) + "\n" + text, newline="")
        kept = text.rstrip("\n")  # blank lines at the very end are ignored
        yield width, strict_rows(kept + "\n", width) if kept else []


def test_what_is_read_is_what_is_written_or_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    read = refused = 0
    for width, want in random_files(path, 20_260_101):
        if want is None:
            with pytest.raises(DataError):
                list(open_source(path, PLAIN).batches("abc"[:width]))
            refused += 1
        else:
            frames = [frame for frame, _ in open_source(path, PLAIN).batches("abc"[:width])]
            assert (pl.concat(frames).rows() if frames else []) == want
            read += 1
    assert min(read, refused) > 300  # both sides have been tried


def test_listed_texts_are_read_alike_or_refused(tmp_path):
    """Columns of a type that holds the listed texts alone: polars itself would overlook what follows a closing quote."""
    texts = ["x", "a,b", "a\nb", 'q"r', " x", "x ", "   ", " "]
    path = tmp_path / "t.csv"
    read = refused = 0
    for width, want in random_files(path, 20_260_102):
        schema = Schema([Attribute(name, texts, missing="value") for name in "abc"[:width]])
        if not want or any(field not in texts for row in want for field in row if field is not None):
            with pytest.raises(DataError):
                encode(path, schema)
            refused += 1
        else:
            codes = [[len(texts) if field is None else texts.index(field) for field in column] for column in zip(*want)]
            assert [column.tolist() for column in encode(path, schema).codes.values()] == codes
            read += 1
    assert min(read, refused) > 300


def pieces(text: str, size: int) -> list[bytes]:
    data = text.encode()
    return [data[i : i + size] for i in range(0, len(data), size)]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_pieces_do_not_matter(size):
    rng = random.Random(size)
    for _ in range(300):
        text = "a,b,c\n" + random_text(rng, 3)
        cut, whole = pieces(text, size), pieces(text, 10_000)
        assert stray_quotes(cut, ",") == stray_quotes(whole, ",")
        assert separators(cut, ",") == separators(whole, ",")
        assert uneven_lines(cut, ",", 3) == uneven_lines(whole, ",", 3)
        assert look(cut, ",") == look(whole, ",")


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_uneven_lines_are_counted(size):
    text = 'a,b,c\n1,2,3\n1,2\n"1,\n,2",2,3\n\n1,2,3,4\n"x""y,",2,3\n1'
    assert uneven_lines(pieces(text, size), ",", 3) == (3, 1)
    assert separators(pieces(text, size), ",") == 2 + 2 + 1 + 2 + 0 + 3 + 2 + 0


@pytest.mark.parametrize(
    ("text", "stray"),
    [
        ('a,"b"\n', False),
        ('"a""b",c\r\n"d"\r\n', False),
        ('""', False),
        ('"""",""', False),
        ('a"b', True),
        ('"a"b', True),
        ('a,"b', True),
        (' "a"', True),
        ('"a" ', True),
        ('"a\n"b"', True),
    ],
)
def test_quotes_in_their_places(text, stray):
    assert stray_quotes(pieces(text, 2), ",") == stray
    assert stray_quotes(pieces(text.replace(",", ";"), 100), ";") == stray
    assert look(pieces(text, 2), ",").stray == stray


def test_long_pieces_are_looked_at_in_parts():
    """A quoted field over the border of a part, whatever the length before it."""
    for shift in range(5):
        text = ("x" * (2**16 - 4 + shift) + ',"a,\nb"\n' + "y,z\n" * 40_000).encode()
        assert look([text]) == Look(nul=False, quotes=2, lines=40_002, last="\n")
        assert records([text], ",") == 40_001
        assert separators([text], ",") == 40_001
        assert uneven_lines([text], ",", 2) == (0, 0)
        assert uneven_lines([text, b"short\n"], ",", 2) == (1, 0)
