"""The release folder: a valid Data Package, complete or absent, and it opens again."""

import hashlib
import json
import shutil

import polars as pl
import pytest

import pkanon as pk
from pkanon._errors import EnvironmentFailure
from pkanon._frames.write import output

SCHEMA = pk.Schema(
    [
        pk.Attribute("sex", ["F", "M"]),
        pk.Attribute.binned("age", start=0, stop=20, width=5, open="high"),
        pk.Attribute("children", [0, 1, 2], other=3),
        pk.Attribute("height", [1.5, 1.75], type="number"),
        pk.Attribute("smokes", [False, True], missing="value"),
        pk.Attribute("visit", ["2024-01-01", "2024-02-01"], type="date"),
        pk.Attribute.ranged("zip", 100, 199),
        pk.Attribute("edu", ['a "quoted", one', "ünïcode", "plain"]),
    ]
)
FRAME = pl.DataFrame(
    {
        "sex": ["F", "M"] * 60,
        "age": list(range(30)) * 4,
        "children": [0, 1, 2, 9] * 30,
        "height": [1.5, 1.75, 1.75] * 40,
        "smokes": [True, False, None] * 40,
        "visit": ["2024-01-01", "2024-02-01"] * 60,
        "zip": list(range(100, 160)) * 2,
        "edu": ['a "quoted", one', "ünïcode", "plain"] * 40,
    }
)


@pytest.fixture(scope="module")
def release():
    return pk.release(FRAME, pk.plan(SCHEMA, records=120, k=2))


@pytest.fixture
def folder(release, tmp_path):
    release.save(tmp_path / "out", format="both")
    return tmp_path / "out"


def rehash(folder):
    """What somebody would do who changes a file and covers it up."""
    path = folder / "datapackage.json"
    package = json.loads(path.read_text())
    digest = lambda name: f"sha256:{hashlib.sha256((folder / name).read_bytes()).hexdigest()}"  # noqa: E731
    package["pkanon"] |= {"plan": digest("plan.json"), "certificate": digest("certificate.json")}
    path.write_text(json.dumps(package))


def test_the_files(folder):
    assert sorted(path.name for path in folder.iterdir()) == [
        "README.txt", "certificate.json", "data.csv", "data.parquet", "datapackage.json", "plan.json", "predicted.csv",
    ]  # fmt: skip


@pytest.mark.parametrize("format", ["parquet", "csv", "both"])
def test_frictionless_calls_it_valid(release, tmp_path, format):
    import frictionless

    release.save(tmp_path / "out", format=format)
    report = frictionless.validate(str(tmp_path / "out" / "datapackage.json"))
    assert report.valid, report.flatten(["type", "message"])


def test_the_hash_of_a_file_that_was_hashed_on_the_way_is_that_of_the_file(release, tmp_path, monkeypatch):
    monkeypatch.setattr(output, "_PIECE", 7)
    release.save(tmp_path / "out", format="both")
    for resource in json.loads((tmp_path / "out/datapackage.json").read_text())["resources"]:
        content = (tmp_path / "out" / resource["path"]).read_bytes()
        assert resource["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"


def test_frictionless_sees_a_value_that_was_not_declared(folder):
    import frictionless

    text = (folder / "data.csv").read_text().replace("plain", "fancy")
    (folder / "data.csv").write_text(text)
    assert not frictionless.validate(str(folder / "datapackage.json")).valid


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_it_opens_again(release, tmp_path, format):
    release.save(tmp_path / "out", format=format)
    again = pk.open_release(tmp_path / "out")
    assert again.plan == release.plan
    assert again.certificate == release.certificate
    assert again.table.equals(release.table)


def test_the_parquet_file_opens_alone(release, folder, tmp_path):
    shutil.move(folder / "data.parquet", tmp_path / "alone.parquet")
    again = pk.open_release(tmp_path / "alone.parquet")
    assert again.plan == release.plan
    assert again.certificate == release.certificate
    assert again.table.equals(release.table)


def test_declared_types(release):
    types = release.table.schema
    assert types["children"] == pl.Int64
    assert types["height"] == pl.Float64
    assert types["smokes"] == pl.Boolean
    assert types["visit"] == pl.Date
    assert types["zip"] == pl.Int64
    assert set(release.table["children"].unique()) <= {0, 1, 2, 3}


def test_other_tools_read_it(folder):
    import duckdb
    import pandas

    assert duckdb.sql(f"SELECT count(*) FROM '{folder}/data.parquet' WHERE sex IN ('F', 'M')").fetchall() == [(120,)]
    assert list(pandas.read_parquet(folder / "data.parquet").columns) == list(SCHEMA.names)
    assert pandas.read_csv(folder / "data.csv").shape == (120, 8)


def test_nothing_is_overwritten(release, folder):
    before = (folder / "plan.json").read_bytes()
    with pytest.raises(pk.InputError, match="exists"):
        release.save(folder)
    assert (folder / "plan.json").read_bytes() == before


def test_no_seed_is_written(tmp_path):
    seed = 918273645546372819
    made = pk.release(FRAME, pk.plan(SCHEMA, records=120, k=2), randomness=pk.Seeded(seed))
    made.save(tmp_path / "out", format="both")
    for path in (tmp_path / "out").iterdir():
        assert str(seed).encode() not in path.read_bytes()
    assert str(seed) not in repr(made)


def test_a_changed_data_file_is_noticed(folder):
    text = (folder / "data.csv").read_text()
    (folder / "data.parquet").unlink()
    (folder / "data.csv").write_text(text)
    with pytest.raises(pk.InputError):
        pk.open_release(folder)


def test_a_changed_csv_is_noticed(release, tmp_path):
    release.save(tmp_path / "out", format="csv")
    path = tmp_path / "out" / "data.csv"
    path.write_text(path.read_text().replace("F", "M", 1))
    with pytest.raises(pk.DataError, match="hash"):
        pk.open_release(tmp_path / "out")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("k", "1000"),
        ("epsilon", "0.1"),
        ("rows", 121),
        ("plan_digest", "0" * 64),
        ("format", "other"),
        ("void", "x"),
        ("k", None),
    ],
)
def test_a_certificate_that_claims_more_is_refused(folder, key, value):
    path = folder / "certificate.json"
    data = json.loads(path.read_text())
    data[key] = value
    path.write_text(json.dumps(data))
    with pytest.raises(pk.DataError, match="hash"):
        pk.open_release(folder)
    rehash(folder)
    with pytest.raises(pk.InputError, match=r"certificate|rows"):
        pk.open_release(folder)


def test_sentences_are_written_anew_when_a_release_is_opened(release, folder):
    path = folder / "certificate.json"
    path.write_text(path.read_text().replace("nobody can link", "nobody can ever link"))
    rehash(folder)
    assert pk.open_release(folder).certificate.statement == release.certificate.statement


@pytest.mark.parametrize("name", ["data.csv", "data.parquet"])
def test_every_data_file_is_checked(folder, name):
    with open(folder / name, "ab") as file:
        file.write(b"x")
    with pytest.raises(pk.DataError, match=name):
        pk.open_release(folder)


def test_a_folder_that_was_never_finished_is_refused(folder, tmp_path):
    shutil.copytree(folder, tmp_path / ".out.deadbeef.incomplete")
    with pytest.raises(pk.InputError, match="finished"):
        pk.open_release(tmp_path / ".out.deadbeef.incomplete")


def test_a_changed_plan_is_refused(folder):
    path = folder / "plan.json"
    data = json.loads(path.read_text())
    data["records"] += 1
    path.write_text(json.dumps(data))
    rehash(folder)
    with pytest.raises(pk.PlanError, match="another plan"):
        pk.open_release(folder)


@pytest.mark.parametrize(
    "name", ["plan.json", "certificate.json", "datapackage.json", "data.parquet", "README.txt", "predicted.csv"]
)
def test_an_absent_file_is_refused(folder, name):
    (folder / name).unlink()
    with pytest.raises(pk.InputError):
        pk.open_release(folder)


def test_what_is_no_release(tmp_path):
    (tmp_path / "empty").mkdir()
    FRAME.write_parquet(tmp_path / "raw.parquet")
    for path in (tmp_path / "empty", tmp_path / "nothing", tmp_path / "raw.parquet", __file__):
        with pytest.raises(pk.InputError):
            pk.open_release(path)


def test_an_unknown_format(release, tmp_path):
    with pytest.raises(pk.InputError, match="parquet"):
        release.save(tmp_path / "out", format="xlsx")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("format", ["parquet", "csv", "both"])
def test_a_digest_that_cannot_be_computed_is_the_reason_given(tmp_path, format, monkeypatch):
    """It is computed while rows are written, and goes into their file at the end."""

    def broken(plan, codes):
        raise EnvironmentFailure("The temporary files broke.")

    monkeypatch.setattr("pkanon._release.steps.data_digest", broken)
    made = pk.release(FRAME, pk.plan(SCHEMA, records=120, k=2))
    with pytest.raises(EnvironmentFailure, match="temporary files broke"):
        made.save(tmp_path / "out", format=format)
    assert list(tmp_path.iterdir()) == []
