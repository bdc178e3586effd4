"""Tampered releases: each is caught, and by the check that should catch it.

Where it matters a tampering comes twice: done clumsily, and covered up with every hash and copy corrected, so that the
deeper check has to catch it. The sets below name exactly the checks that must say so; all others must not.
"""

import base64
import json
import shutil

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from keys import write_keys
from tampering import cover_up, edit, read, rehash, rows

import pkanon as pk

COUNT = 300
SCHEMA = pk.Schema(
    [
        pk.Attribute("sex", ["F", "M"]),
        pk.Attribute.ranged("rooms", 1, 6),
        pk.Attribute("age", ["child", "adult", "old"]),
        pk.Attribute("degree", ["no", "yes"]),
    ],
    [pk.Bundle(["age", "degree"], forbid=[{"age": ["child"], "degree": ["yes"]}])],
    confirmed_by="the registrar",
    rows_are="one person",
)
PLAN = pk.plan(SCHEMA, records=COUNT, k=5, design="equal-rho")


def people():
    return pl.DataFrame(
        {
            "sex": ["F", "M"] * (COUNT // 2),
            "rooms": [1, 2, 3, 4, 5, 6] * (COUNT // 6),
            "age": ["child", "adult", "old"] * (COUNT // 3),
            "degree": ["no", "no", "yes"] * (COUNT // 3),
        }
    )


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    return write_keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def release():
    return pk.release(people(), PLAN)


@pytest.fixture(scope="module")
def saved(release, keys, tmp_path_factory):
    place = tmp_path_factory.mktemp("release") / "out"
    release.save(place, format="both", sign=keys[0])
    return place


@pytest.fixture
def folder(saved, tmp_path):
    shutil.copytree(saved, tmp_path / "out")
    return tmp_path / "out"


def value_changed(folder):
    rows(
        folder, lambda t: t.with_columns(sex=pl.when(pl.int_range(pl.len()) == 7).then(_other("sex")).otherwise("sex"))
    )


def _other(name):
    column = pl.col(name).cast(pl.String)
    return pl.when(column == "F").then(pl.lit("M")).otherwise(pl.lit("F")).cast(pl.Enum(["F", "M"]))


def csv_value_changed(folder):
    text = (folder / "data.csv").read_text()
    head, first, rest = text.split("\n", 2)
    swapped = {"F": "M", "M": "F"}[first[0]] + first[1:]
    (folder / "data.csv").write_text("\n".join([head, swapped, rest]))


def rows_dropped(folder):
    rows(folder, lambda table: table.head(COUNT - 10))


def value_outside(folder):
    def change(table):
        if table.schema["rooms"] == pl.String:
            return table.with_columns(rooms=pl.when(pl.int_range(pl.len()) == 3).then(pl.lit("7")).otherwise("rooms"))
        seven = pl.when(pl.int_range(pl.len()) == 3).then(pl.lit(7, pl.Int64)).otherwise("rooms")
        return table.with_columns(rooms=seven)

    rows(folder, change)


def forbidden_combination(folder):
    first = pl.int_range(pl.len()) == 0

    def change(table):
        ages, degrees = (table.schema[name] for name in ("age", "degree"))
        return table.with_columns(
            age=pl.when(first).then(pl.lit("child").cast(ages)).otherwise("age"),
            degree=pl.when(first).then(pl.lit("yes").cast(degrees)).otherwise("degree"),
        )

    rows(folder, change)


def column_renamed(folder):
    rows(folder, lambda table: table.rename({"sex": "gender"}))


def columns_reordered(folder):
    rows(folder, lambda table: table.select(reversed(table.columns)))


def type_changed(folder):
    rows(folder, lambda t: t.with_columns(pl.col("rooms").cast(pl.Int32)) if t.schema["rooms"] == pl.Int64 else t)


def truncated(folder):
    content = (folder / "data.parquet").read_bytes()
    (folder / "data.parquet").write_bytes(content[: len(content) // 2])


def csv_truncated(folder):
    lines = (folder / "data.csv").read_text().splitlines(keepends=True)
    (folder / "data.csv").write_text("".join(lines[: COUNT // 2]))


def readme_edited(folder):
    text = (folder / "README.txt").read_text()
    (folder / "README.txt").write_text(text.replace("Do not read single rows.", "Read single rows."))


def error_edited(folder):
    """A table that cannot be read is called good."""
    text = (folder / "predicted.csv").read_text()
    line = next(line for line in text.splitlines() if "not readable" in line)
    cells = line.rsplit(",", 3)
    (folder / "predicted.csv").write_text(text.replace(line, ",".join([cells[0], "0.05", "good", cells[3]])))


def level_edited(folder):
    text = (folder / "predicted.csv").read_text()
    (folder / "predicted.csv").write_text(text.replace("not readable", "good"))


def errors_dropped(folder):
    lines = (folder / "predicted.csv").read_text().splitlines(keepends=True)
    (folder / "predicted.csv").write_text("".join(lines[:-1]))


def errors_without_hash(folder):
    edit(folder, "datapackage.json", lambda package: package["pkanon"].pop("predicted"))


def errors_removed(folder):
    errors_without_hash(folder)
    (folder / "predicted.csv").unlink()


def deleted(name):
    return lambda folder: (folder / name).unlink()


def k_edited(folder):
    edit(folder, "certificate.json", lambda c: c["claims"].update(k="200"))


def k_edited_everywhere(folder):
    """The number and every sentence with it, also in the data package."""
    k = read(folder, "certificate.json")["claims"]["k"]

    def change(value):
        value["claims"].update(k="200", k_planned="200")
        value["statement"] = [sentence.replace(f"k = {k[0]}", "k = 200") for sentence in value["statement"]]

    edit(folder, "certificate.json", change)
    statement = " ".join(read(folder, "certificate.json")["statement"])
    tail = " Counts of this table are biased; correct them with plan.json."
    edit(folder, "datapackage.json", lambda p: p.update(description=statement + tail))


def epsilon_edited(folder):
    edit(folder, "certificate.json", lambda c: c["claims"].update(epsilon="0.1"))


def central_edited(folder):
    edit(folder, "certificate.json", lambda c: c["claims"]["central"].update(epsilon="0.000001"))


def delta_edited(folder):
    edit(folder, "certificate.json", lambda c: c["claims"]["central"].update(delta="1e-12"))


def central_removed(folder):
    edit(folder, "certificate.json", lambda c: c["claims"].update(central=None, central_absent="It takes long."))


def sentence_edited(folder):
    edit(folder, "certificate.json", lambda c: c["outside"].pop())


def assumption_edited(folder):
    edit(folder, "certificate.json", lambda c: c["assumptions"].append("No adversary exists."))


def confirmed_edited(folder):
    edit(folder, "certificate.json", lambda c: c["confirmed"].update(by="the minister"))


def asked_edited(folder):
    edit(folder, "certificate.json", lambda c: c["asked"].update(k="1000"))


def undated(folder):
    edit(folder, "certificate.json", lambda c: c.update(date="someday"))


def key_added(folder):
    edit(folder, "certificate.json", lambda c: c.update(approved=True))


def duplicate_key(name):
    def tamper(folder):
        text = (folder / name).read_text(encoding="utf-8")
        first = next(iter(json.loads(text)))
        (folder / name).write_text(text.replace("{", f'{{ "{first}": "something else",', 1), encoding="utf-8")

    return tamper


def future(name, version):
    return lambda folder: edit(folder, name, lambda value: value.update(format=version))


def approx_edited(folder):
    edit(folder, "plan.json", lambda plan: plan["blocks"][0]["approx"].update(rho="0.01"))


def integers_edited(folder):
    """More noise in the plan than there is in the rows; the certificate stays."""
    edit(folder, "plan.json", lambda plan: plan["blocks"][0].update(replace=str(2**31 - 1)))


def planned_edited(folder):
    edit(folder, "plan.json", lambda plan: plan.update(records=10 * COUNT))


def unknown_block(folder):
    edit(folder, "plan.json", lambda plan: plan["blocks"][0].update(kind="magic"))


def inner_plan_edited(folder):
    """Only the plan inside the Parquet file."""
    from pkanon._release import CERTIFICATE_KEY, PLAN_KEY

    file = folder / "data.parquet"
    metadata = pl.read_parquet_metadata(file)
    inside = {key: metadata[key] for key in (PLAN_KEY, CERTIFICATE_KEY)}
    inside[PLAN_KEY] = inside[PLAN_KEY].replace(f'"records": {COUNT}', f'"records": {2 * COUNT}')
    pl.read_parquet(file).write_parquet(file, metadata=inside)


def hash_edited(folder):
    edit(folder, "datapackage.json", lambda p: p["resources"][0].update(hash="sha256:" + "0" * 64))


def hash_removed(folder):
    edit(folder, "datapackage.json", lambda p: p["pkanon"].pop("plan"))


def values_edited(folder):
    edit(
        folder,
        "datapackage.json",
        lambda p: p["resources"][1]["schema"]["fields"][0]["constraints"].update(enum=["F", "M", "X"]),
    )


def package_rows_edited(folder):
    edit(folder, "datapackage.json", lambda p: p["pkanon"].update(rows=10))


def package_not_json(folder):
    (folder / "datapackage.json").write_text("{", encoding="utf-8")


def package_a_list(folder):
    (folder / "datapackage.json").write_text("[]", encoding="utf-8")


def resources_damaged(folder):
    edit(folder, "datapackage.json", lambda p: p.update(resources=7))


def rows_said_otherwise(folder):
    edit(folder, "certificate.json", lambda c: c["rows"].update(released=2 * COUNT))


def other_certificate(folder):
    """The certificate of another release with the same plan."""
    other = pk.release(people(), PLAN).certificate
    (folder / "certificate.json").write_text(json.dumps(other.to_json(), indent=1, ensure_ascii=False) + "\n")


def in_text(old, new, count=1):
    """Rows that read the same, written in another way: a mark on some of them."""

    def tamper(folder):
        content = (folder / "data.csv").read_bytes()
        assert old in content
        (folder / "data.csv").write_bytes(content.replace(old, new, count))

    return tamper


def lines_added(folder):
    with open(folder / "data.csv", "ab") as file:
        file.write(b"\n\n")


def private_table_inside(folder):
    """Under a key of its own in the metadata of the Parquet file."""
    from pkanon._release import CERTIFICATE_KEY, PLAN_KEY

    file = folder / "data.parquet"
    metadata = pl.read_parquet_metadata(file)
    inside = {key: metadata[key] for key in (PLAN_KEY, CERTIFICATE_KEY)} | {"notes": people().write_csv()}
    pl.read_parquet(file).write_parquet(file, metadata=inside)


def private_table_among_types(folder):
    """In the description of the columns' types that every Parquet file carries, where no reader shows it."""
    from pkanon._release import CERTIFICATE_KEY, PLAN_KEY

    file = folder / "data.parquet"
    metadata, table = pl.read_parquet_metadata(file), pq.read_table(file)
    types = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(metadata["ARROW:schema"])))
    notes = types.field(0).with_metadata({**(types.field(0).metadata or {}), b"notes": people().write_csv().encode()})
    types = base64.b64encode(types.set(0, notes).serialize().to_pybytes()).decode()
    with pq.ParquetWriter(file, table.schema, store_schema=False) as writer:
        writer.write_table(table)
        inside = {key: metadata[key] for key in (PLAN_KEY, CERTIFICATE_KEY)}
        writer.add_key_value_metadata(inside | {"ARROW:schema": types})
    assert pl.read_parquet_schema(file)["sex"] == pl.Enum(["F", "M"])  # it reads as before


def private_table_as_a_second(key):
    """An entry of the Parquet file may come twice, and readers show the last one."""

    def tamper(folder):
        file = folder / "data.parquet"
        metadata, table = pl.read_parquet_metadata(file), pq.read_table(file)
        with pq.ParquetWriter(file, table.schema, store_schema=False) as writer:
            writer.write_table(table)
            writer.add_key_value_metadata(pa.KeyValueMetadata([(key, people().write_csv()), *metadata.items()]))
        assert pl.read_parquet_metadata(file) == metadata  # it reads as before

    return tamper


def told_in_blanks(name):
    """Blanks and tabs at the ends of lines: ones and zeros of anything."""

    def tamper(folder):
        lines = (folder / name).read_text(encoding="utf-8").splitlines()
        text = "".join(line + (" \n" if number % 2 else "\t\n") for number, line in enumerate(lines))
        (folder / name).write_text(text, encoding="utf-8")

    return tamper


def readme_line_ends(folder):
    """On a terminal every line hides the one before."""
    (folder / "README.txt").write_bytes((folder / "README.txt").read_bytes().replace(b"\n", b"\r"))


def package_key_added(folder):
    edit(folder, "datapackage.json", lambda package: package.update(keywords=["k = 1000"]))


def resource_twice(folder):
    edit(folder, "datapackage.json", lambda package: package["resources"].append(package["resources"][0]))


def ones_at_the_end(folder):
    rows(folder, lambda table: table.sort(pl.col("rooms").cast(pl.String) == "1", maintain_order=True))


def covered(tamper):
    def both(folder):
        tamper(folder)
        cover_up(folder)

    return both


def hashed(tamper):
    def both(folder):
        tamper(folder)
        rehash(folder)

    return both


CLUMSY = {
    "value changed": (value_changed, {"hashes", "digests"}),
    "value changed in one file": (csv_value_changed, {"hashes", "copies"}),
    "rows dropped": (rows_dropped, {"hashes", "digests", "rows"}),
    "value outside its domain": (value_outside, {"hashes", "values"}),
    "forbidden combination": (forbidden_combination, {"hashes", "digests", "combinations"}),
    "column renamed": (column_renamed, {"hashes", "values"}),
    "columns reordered": (columns_reordered, {"hashes", "values"}),
    "file truncated": (truncated, {"hashes", "copies", "values"}),
    "text file truncated": (csv_truncated, {"hashes", "copies", "rows"}),
    "plan missing": (deleted("plan.json"), {"files", "plan", "copies"}),
    "certificate missing": (deleted("certificate.json"), {"files", "copies"}),
    "rows missing": (deleted("data.csv"), {"files"}),
    "data package missing": (deleted("datapackage.json"), {"files"}),
    "README missing": (deleted("README.txt"), {"files", "README.txt"}),
    "README edited": (readme_edited, {"hashes", "README.txt"}),
    "errors missing": (deleted("predicted.csv"), {"files", "predicted.csv"}),
    "errors without their hash": (errors_without_hash, {"hashes", "data package"}),
    "errors removed with their hash": (errors_removed, {"README.txt"}),
    "error edited": (error_edited, {"hashes", "predicted.csv"}),
    "k edited": (k_edited, {"hashes", "copies", "claims"}),
    "duplicate key in the plan": (duplicate_key("plan.json"), {"hashes", "copies", "format", "plan"}),
    "duplicate key in the certificate": (duplicate_key("certificate.json"), {"hashes", "copies", "format"}),
    "duplicate key in the data package": (duplicate_key("datapackage.json"), {"format"}),
    "hash edited": (hash_edited, {"hashes"}),
    "hash removed": (hash_removed, {"hashes", "data package"}),
    "values edited in the data package": (values_edited, {"data package"}),
    "rows edited in the data package": (package_rows_edited, {"data package"}),
    "data package damaged": (package_not_json, {"format"}),
    "data package a list": (package_a_list, {"format"}),
    "data package without resources": (resources_damaged, {"hashes", "data package"}),
    "plan inside edited": (inner_plan_edited, {"hashes", "copies"}),
}
COVERED = {
    "value changed": (covered(value_changed), {"digests"}),
    "value changed in one file": (covered(csv_value_changed), {"copies"}),
    "rows dropped": (covered(rows_dropped), {"digests", "rows"}),
    "value outside its domain": (covered(value_outside), {"values"}),
    "forbidden combination": (covered(forbidden_combination), {"digests", "combinations"}),
    "column renamed": (covered(column_renamed), {"values"}),
    "columns reordered": (covered(columns_reordered), {"values"}),
    "README edited": (covered(readme_edited), {"README.txt"}),
    "error edited": (covered(error_edited), {"predicted.csv"}),
    "level edited": (covered(level_edited), {"predicted.csv"}),
    "errors dropped": (covered(errors_dropped), {"predicted.csv"}),
    "type changed": (covered(type_changed), {"values"}),
    "k edited": (covered(k_edited), {"claims"}),
    "k edited everywhere": (covered(k_edited_everywhere), {"claims", "sentences", "data package"}),
    "epsilon edited": (covered(epsilon_edited), {"claims"}),
    "central epsilon edited": (covered(central_edited), {"central epsilon"}),
    "delta edited": (covered(delta_edited), {"central epsilon"}),
    "central epsilon removed": (covered(central_removed), {"central epsilon", "sentences"}),
    "sentence removed": (covered(sentence_edited), {"sentences"}),
    "assumption added": (covered(assumption_edited), {"sentences"}),
    "confirmation edited": (covered(confirmed_edited), {"claims"}),
    "what was asked edited": (covered(asked_edited), {"claims"}),
    "no date": (covered(undated), {"claims", "README.txt"}),
    "key added": (covered(key_added), {"claims"}),
    "more rows claimed": (
        covered(rows_said_otherwise),
        {"claims", "central epsilon", "sentences", "data package", "README.txt", "predicted.csv", "rows"},
    ),
    "newer plan": (covered(future("plan.json", "pkanon-plan/7")), {"format", "plan"}),
    "newer certificate": (covered(future("certificate.json", "pkanon-certificate/7")), {"format", "claims"}),
    "older certificate": (covered(future("certificate.json", "pkanon-certificate/1")), {"format", "claims"}),
    "strange certificate": (covered(future("certificate.json", 7)), {"format", "claims"}),
    "decimals of the plan edited": (covered(approx_edited), {"plan"}),
    "integers of the plan edited": (
        covered(integers_edited),
        {"claims", "central epsilon", "sentences", "digests", "data package", "plan", "README.txt", "predicted.csv"},
    ),
    "planned rows edited": (covered(planned_edited), {"claims", "sentences", "digests", "README.txt"}),
    "unknown block": (covered(unknown_block), {"plan"}),
    "certificate of another release": (covered(other_certificate), {"digests"}),
    "plan inside edited": (hashed(inner_plan_edited), {"copies"}),
    "text file truncated": (hashed(csv_truncated), {"copies", "rows"}),
    "a row marked by quotes": (hashed(in_text(b"\nF,", b'\n"F",')), {"values"}),
    "a row marked by a zero": (hashed(in_text(b",3,", b",03,")), {"values"}),
    "a row marked by its end": (hashed(in_text(b"\n", b"\r\n")), {"values"}),
    "a mark before the text": (hashed(in_text(b"sex,", b"\xef\xbb\xbfsex,")), {"values"}),
    "lines added to the text": (hashed(lines_added), {"values"}),
    "private table inside": (hashed(private_table_inside), {"copies"}),
    "private table among the types": (hashed(private_table_among_types), {"copies"}),
    "private table as a second plan": (hashed(private_table_as_a_second("pkanon:plan")), {"copies"}),
    "private table as second types": (hashed(private_table_as_a_second("ARROW:schema")), {"copies"}),
    "blanks in the plan": (covered(told_in_blanks("plan.json")), {"format"}),
    "blanks in the certificate": (covered(told_in_blanks("certificate.json")), {"format"}),
    "blanks in the data package": (told_in_blanks("datapackage.json"), {"format"}),
    "line ends of README": (hashed(readme_line_ends), {"README.txt"}),
    "key added to the data package": (package_key_added, {"data package"}),
    "a file listed twice": (resource_twice, {"data package"}),
    "rows of one kind at the end": (covered(ones_at_the_end), {"digests", "order"}),
}  # fmt: skip


def test_the_release_itself_is_kept(saved, keys):
    found = pk.verify(saved, key=keys[1])
    assert found.ok, str(found)
    assert all(check.verdict == "kept" for check in found), str(found)


@pytest.mark.parametrize("case", CLUMSY)
def test_a_clumsy_tampering_is_caught(folder, case):
    tamper, right = CLUMSY[case]
    tamper(folder)
    assert set(pk.verify(folder).broken) == right


@pytest.mark.parametrize("case", COVERED)
def test_a_covered_up_tampering_is_caught(folder, case, keys):
    tamper, right = COVERED[case]
    tamper(folder)
    assert set(pk.verify(folder, key=keys[1]).broken) == right | {"signature"}


@pytest.mark.parametrize("content", [b"", b"signed", b"0" * 128])
def test_what_cannot_be_a_signature_is_not_called_one(folder, content):
    (folder / "datapackage.json.sig").write_bytes(content)
    found = pk.verify(folder)
    assert found.broken == ("signature",)
    assert "cannot be a signature" in found["signature"].sentence


def test_line_ends_of_windows_are_no_fault(folder):
    text = (folder / "README.txt").read_bytes()
    (folder / "README.txt").write_bytes(text.replace(b"\n", b"\r\n"))
    rehash(folder)
    package = (folder / "datapackage.json").read_bytes()
    (folder / "datapackage.json").write_bytes(package.replace(b"\n", b"\r\n"))
    assert pk.verify(folder).ok


def test_a_parquet_file_alone_carries_nothing_else(folder):
    assert pk.verify(folder / "data.parquet").ok
    private_table_inside(folder)
    assert pk.verify(folder / "data.parquet").broken == ("copies",)
