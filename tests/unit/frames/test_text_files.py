"""Text files: what is read, and every trap that must be refused rather than read wrongly."""

import gzip
import random

import numpy as np
import polars as pl
import pytest

from pkanon._errors import DataError, InputError
from pkanon._frames import TextFormat, encode
from pkanon._frames.read import textfile
from pkanon._schema import Attribute, Schema

SCAN = pl.scan_csv
SCHEMA = Schema(
    [
        Attribute("sex", ["F", "M"]),
        Attribute.ranged("age", 0, 99, missing="value"),
        Attribute("town", ["x", "y"], missing="value"),
    ]
)


@pytest.fixture(params=["looked at first", "looked at meanwhile"], autouse=True)
def way(request, monkeypatch):
    """Long texts are looked at before they are read, others while they are."""
    if request.param == "looked at first":
        monkeypatch.setattr(textfile, "_LOOKED_AT_FIRST", 0)
    return request.param


def codes(path, schema=SCHEMA, **text):
    encoded = encode(path, schema, text=TextFormat(**text))
    return {name: column.tolist() for name, column in encoded.codes.items()}


def refused(path, schema=SCHEMA, **text):
    with pytest.raises(DataError) as caught:
        encode(path, schema, text=TextFormat(**text), exact_counts=True)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    return str(caught.value)


@pytest.fixture
def file(tmp_path):
    def write(content, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


GOOD = {"sex": [0, 1], "age": [7, 100], "town": [0, 2]}


@pytest.mark.parametrize(
    "content",
    [
        "sex,age,town\nF,7,x\nM,,\n",
        "sex,age,town\nF,7,x\nM,,",  # no line end at the end
        "sex,age,town\r\nF,7,x\r\nM,,\r\n",
        "\ufeffsex,age,town\nF,7,x\nM,,\n",
        '"sex","age","town"\n"F","7","x"\n"M","",\n',
        '\ufeff"sex","age","town"\n"F","7","x"\n"M","",\n',
        "town,sex,age\nx,F,7\n,M,\n",  # another order of columns
        "sex,age,town\nF,007,x\nM,,\n",
        "sex,age,town\nF,+7,x\nM,,\n",
        "sex,age,town\nF,7,x\nM,,\n\n\n",  # blank lines at the very end
        "sex,age,town\r\nF,7,x\r\nM,,\r\n\r\n",
    ],
)
def test_ways_to_write_the_same_table(file, content):
    assert codes(file(content)) == GOOD


@pytest.mark.parametrize("name", ["t.tsv", "t.tab", "T.TSV"])
def test_tab_files_by_name(file, name):
    assert codes(file("sex\tage\ttown\nF\t7\tx\nM\t\t\n", name)) == GOOD


@pytest.mark.parametrize("delimiter", [";", "|", "\t", "\\t", " "])
def test_delimiters(file, delimiter):
    mark = delimiter.replace("\\t", "\t")
    assert codes(file("sex,age,town\nF,7,x\nM,,\n".replace(",", mark)), delimiter=delimiter) == GOOD


@pytest.mark.parametrize("delimiter", ["", ";;", '"', "\n", "é", "a"])
def test_delimiters_that_are_none(file, delimiter):
    with pytest.raises(InputError, match="one ASCII character"):
        codes(file("sex,age,town\nF,7,x\n"), delimiter=delimiter)


def test_delimiter_looks_wrong(file):
    message = refused(file("sex;age;town\nF;7;x\n"))
    assert "contains ';'" in message
    assert "--delimiter ';'" in message
    assert "'\\t'" in refused(file("sex\tage\ttown\nF\t7\tx\n"))


@pytest.mark.parametrize(
    "encoding", ["utf-8", "UTF8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32"]
)
def test_encodings(file, encoding):
    schema = Schema([Attribute("stad", ["Köln", "Århus"]), Attribute.ranged("n", 0, 9)])
    path = file("stad,n\nÅrhus,1\nKöln,2\n".encode(encoding))
    assert codes(path, schema, encoding=encoding) == {"stad": [1, 0], "n": [1, 2]}


def test_wrong_encodings(file):
    schema = Schema([Attribute("stad", ["Köln", "Århus"]), Attribute.ranged("n", 0, 9)])
    latin = file("stad,n\nÅrhus,1\n".encode("latin-1"))
    assert "encoding='latin-1'" in refused(latin, schema)
    assert "not text in the encoding cp1252" in refused(file(b"stad,n\n\x81,1\n"), schema, encoding="cp1252")
    assert "utf-16" in refused(file("stad,n\nÅrhus,1\n".encode("utf-16")), schema)
    assert "not UTF-8" in refused(file("städ,n\nx,1\n".encode("latin-1")), schema)
    for unknown in ("klingon", "zlib", "hex"):
        with pytest.raises(InputError, match="unknown"):
            codes(latin, schema, encoding=unknown)


@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv"])  # recognised by its content, whatever its name
def test_gzip(file, name):
    plain = b"sex,age,town\nF,7,x\nM,,\n"
    assert codes(file(gzip.compress(plain), name)) == GOOD
    assert codes(file(gzip.compress(plain[:20]) + gzip.compress(plain[20:]), name)) == GOOD


def test_damaged_gzip(file):
    packed = gzip.compress(b"sex,age,town\n" + b"F,7,x\n" * 50_000)
    for damaged in (packed[:-20], packed[: len(packed) // 2], packed[:40] + b"\0" * 20 + packed[60:]):
        assert "gzip" in refused(file(damaged, "t.csv.gz"))
    assert "not a gzip file" in refused(file("sex,age,town\n", "t.csv.gz"))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "is empty"),
        ("\n\n", "empty line"),
        ("sex,age,town\n", "no rows"),
        ("sex,age,town", "no rows"),
        ("sex,age,town\nF,7,x\nM,8\n", "1 row has fewer fields"),
        ("sex,age,town\nF,7,x\nM,8\nM\n", "2 rows have fewer fields"),
        ("sex,age,town\nF,7,x\nM,8", "1 row has fewer fields"),
        ("sex,age,town\nF,7,x\n\nM,8,x\n", "1 row has fewer fields"),  # a blank line
        ("sex,age,town\nF,7,x\n   \n", "1 row has fewer fields"),
        ("sex,age,town\nF,7,x\nM,8,x,y\n", "1 row has more fields"),
        ("sex,age,town\nF,7,x,\nM,8,x,\n", "2 rows have more fields"),
        ("sex,age,town\nF,7,x\nM,8,x,", "1 row has more fields"),  # polars overlooks it at the very end
        ("sex,age,town\nF,7\nM,8,x,", "1 row has fewer fields"),  # and the two would cancel out
        ("sex,age,town\nF,7,x\nM,8,x,y\nF,9\n", "1 row has fewer fields"),
        ('sex,age,town\nF,7,"x\nM,8,x\n', "quote"),
        ('sex,age,town\n"F,7,x\nM,8,x\n', "quote"),
        ('sex,age,town\nF,7,"x"y\n', "quote"),
        ('sex,age,town\nF"F,7,x\nM"M,7,x\n', "quote"),
        ('sex,"age,town\nF,7,x\n', "quote"),
        ("sex,age,town\nF,7,x\0\n", "NUL"),
        ("sex,ag\0e,town\nF,7,x\n", "NUL"),
        ("sex,age,town\rF,7,x\r", "carriage return"),
        ("sex,age,age\nF,7,7\n", "'age' occurs more than once"),
        ("sex,age,town,\nF,7,x,1\n", "no name"),
    ],
)
def test_traps(file, content, sentence):
    assert sentence in refused(file(content))


def test_a_missing_closing_quote_loses_no_row_silently(file):
    """polars reads the two lines as one field; a column that takes any text would hide it."""
    schema = Schema([Attribute("sex", ["F", "M"]), Attribute("note", role="drop"), Attribute("town", ["x", "y"])])
    path = file('sex,note,town\nF,"abc,x\nM,"def",y\nF,"ghi",x\n')
    assert "quote" in refused(path, schema)


def test_an_open_quote_in_a_long_text_is_noticed_before_polars_takes_the_rest_for_one_field(file, way, monkeypatch):
    asked = []
    monkeypatch.setattr(textfile.pl, "scan_csv", lambda *args, **options: asked.append(args) or SCAN(*args, **options))
    assert "quote" in refused(file('sex,age,town\nF,7,"x\nM,8,x\n'))
    assert bool(asked) == (way == "looked at meanwhile")


def test_short_lines_behind_quoted_separators(file):
    ok = 'sex,age,town\nF,7,"x"\nM,,\n'
    assert codes(file(ok)) == GOOD
    schema = Schema([Attribute("a", role="drop"), Attribute("b", ["x"], missing="value")])
    assert codes(file('a,b\n"1,2\n3",x\n"q""r,",\n'), schema) == {"b": [0, 1]}
    assert "1 row has fewer" in refused(file('a,b\n"1,2\n3",x\n"q""r,"\n'), schema)


def test_a_file_of_one_column(file):
    schema = Schema([Attribute("town", ["x", "y"], missing="value")])
    assert codes(file("town\nx\n\ny\n\n"), schema) == {"town": [0, 2, 1, 2]}  # there a blank line is a missing value


def test_odd_names_in_the_header(file):
    names = ["a b ", 'q"r', "x,y", "li\nne", "ä"]
    schema = Schema([Attribute(name, ["0", "1"]) for name in names])
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    assert codes(file(f"{header}\n0,1,0,1,0\n"), schema) == {n: [i % 2] for i, n in enumerate(names)}


def test_empty_fields_and_quoted_empty_fields(file):
    """'""' is a text; an unquoted empty field is none."""
    strict = Schema([Attribute("t", ["x", "y"], missing="value"), Attribute.ranged("n", 0, 9, missing="value")])
    assert codes(file('t,n\n,1\nx,\nx,""\n'), strict) == {"t": [2, 0, 0], "n": [1, 10, 10]}
    assert "Column 't': 1 row holds a value that the schema does not list" in refused(file('t,n\n"",1\nx,2\n'), strict)
    empty = Schema(
        [Attribute("t", ["x", "y"], missing="value", missing_values=["", "NA"]), Attribute.ranged("n", 0, 9)]
    )
    assert codes(file('t,n\n"",1\nx,2\nNA,3\n"NA",4\n,5\n'), empty)["t"] == [2, 0, 2, 2, 2]


def test_texts_that_mean_missing(file):
    schema = Schema(
        [
            Attribute.ranged("one", 0, 9, missing="value", missing_values=["-9"]),
            Attribute.ranged("two", 0, 9, missing="value", missing_values=["-9", "NA"]),
            Attribute("yes", [False, True], missing="value", missing_values=["?"]),
            Attribute("no", [0.5, 1.5], missing="value", missing_values=["", "x"]),
        ]
    )
    path = file('one,two,yes,no\n-9,NA,?,x\n"-9",-9,true,0.5\n3,4,FALSE,1.50\n,,,\n')
    assert codes(path, schema) == {
        "one": [10, 10, 3, 10],
        "two": [10, 10, 4, 10],
        "yes": [2, 1, 0, 2],
        "no": [2, 0, 1, 2],
    }
    assert "Column 'one': 1 row holds a value" in refused(file("one,two,yes,no\n-09,1,true,0.5\n"), schema)


INTEGER_TEXTS = {"7": 7, "-7": -7, "+7": 7, "007": 7, " 7": 7, "\t7": 7, '"7"': 7, "": None, '""': None, " ": None}
NOT_INTEGERS = ["7.0", "7a", "1e1", "7 ", "- 7", "0x7", "1_0", "\u0667", "99999999999999999999", "x"]


def test_integers_in_text(file):
    """The typed reader and the reader of texts agree: with ``other``, a stray text forces the second."""
    for strict in (True, False):
        bad = "" if strict else "q,x\n"
        schema = Schema(
            [
                Attribute.ranged("n", -9, 9, missing="value", other=None if strict else 99),
                Attribute("t", ["x", "y"]),
            ]
        )
        got = codes(file("n,t\n" + "".join(f"{text},x\n" for text in INTEGER_TEXTS) + bad), schema)["n"]
        missing = 19 if strict else 20
        want = [missing if value is None else value + 9 for value in INTEGER_TEXTS.values()]
        assert got == want + ([] if strict else [19])


@pytest.mark.parametrize("text", NOT_INTEGERS)
def test_what_is_no_integer(file, text):
    schema = Schema([Attribute.ranged("n", -9, 9), Attribute("t", ["x", "y"])])
    assert "Column 'n': 1 row holds something that is not a whole number" in refused(
        file(f"n,t\n{text},x\n1,x\n"), schema
    )


def test_dates_in_text(file):
    schema = Schema([Attribute("d", ["2024-02-29", "2023-01-01"], type="date"), Attribute("t", ["x", "y"])])
    assert codes(file("d,t\n2024-02-29,x\n2023-01-01,x\n"), schema)["d"] == [0, 1]
    for text in ("29/02/2024", "2024-2-29", "20240229", "2023-02-29", "2024-02-29T00:00", " 2024-02-29", "0000-01-01"):
        assert "not a date" in refused(file(f"d,t\n{text},x\n"), schema)


def test_booleans_in_text(file):
    schema = Schema([Attribute("b", [True, False]), Attribute("t", ["x", "y"])])
    assert codes(file("b,t\ntrue,x\nFALSE,x\nTrue,x\n"), schema)["b"] == [0, 1, 0]
    for text in ("1", "yes", "t", " true"):
        assert "not true or false" in refused(file(f"b,t\n{text},x\n"), schema)


def test_counts_of_bad_rows_are_exact_and_all_columns_are_named(file):
    path = file("sex,age,town\n" + "F,7,x\n" * 5 + "Z,7,x\n" * 3 + ",7,x\n" * 2 + "F,seven,x\n" + "M,100,q\n" * 4)
    message = refused(path)
    assert "Column 'sex': 2 rows have no value" in message
    assert "Column 'sex': 3 rows hold a value that the schema does not list" in message
    assert "Column 'age': 1 row holds something that is not a whole number" in message
    assert "Column 'age': 4 rows hold a value that the schema does not list" in message
    assert "Column 'town': 4 rows hold a value that the schema does not list" in message


def test_unlisted_becomes_other(file):
    schema = Schema(
        [
            Attribute("t", ["x", "y"], other="else"),
            Attribute.binned("age", start=0, stop=20, width=10, other="?"),
            Attribute("d", ["2024-01-01"], type="date", other="1900-01-01"),
        ]
    )
    path = file("t,age,d\nx,5,2024-01-01\nq,25,2024-01-02\nelse,old,soon\n")
    assert codes(path, schema) == {"t": [0, 2, 2], "age": [0, 2, 2], "d": [0, 1, 1]}


def test_files_that_are_not_there_or_not_tables(tmp_path, file):
    for path, sentence in [
        (tmp_path / "none.csv", "There is no file"),
        (tmp_path, "holds no table"),
        (file("x", "t.docx"), "unknown ending"),
        (file("x", "t"), "unknown ending"),
        (42, "type int"),
        ({"a": [1]}, "type dict"),
        (np.zeros(3), "type ndarray"),
    ]:
        with pytest.raises(InputError, match=sentence):
            encode(path, SCHEMA)
    with pytest.raises(InputError, match="polars DataFrame or LazyFrame"):
        encode(None, SCHEMA)


def test_glob_characters_in_a_name(file):
    assert codes(file("sex,age,town\nF,7,x\nM,,\n", "t[1]*.csv")) == GOOD


def test_a_damaged_parquet_file(file):
    assert "Parquet" in refused(file(b"PAR1 and so on", "t.parquet"))
    assert "Parquet" in refused(file(b"", "t.pq"))


def test_progress_rises_to_one(file):
    rng = random.Random(1)
    lines = "".join(f"{rng.choice('FM')},{rng.randrange(100)},x\n" for _ in range(400_000))
    path = file("sex,age,town\n" + lines)
    shares: list[float] = []
    encode(path, SCHEMA, progress=lambda step, done: shares.append(done))
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert all(0 < share <= 1 for share in shares)
    assert len(shares) > 1


def test_a_large_file_in_several_batches_keeps_its_order(file):
    rng = np.random.default_rng(3)
    n = 300_000
    age = rng.integers(0, 100, n)
    town = rng.integers(0, 2, n)
    lines = [f'{"FM"[a % 2]},{a},"{"xy"[t]}"' for a, t in zip(age.tolist(), town.tolist())]
    got = encode(file("sex,age,town\n" + "\n".join(lines) + "\n"), SCHEMA)
    assert got.rows == n
    assert np.array_equal(got.codes["age"], age)
    assert np.array_equal(got.codes["sex"], age % 2)
    assert np.array_equal(got.codes["town"], town)
    lines[n // 2] = "F,7"
    assert "1 row has fewer fields" in refused(file("sex,age,town\n" + "\n".join(lines) + "\n"))
