"""README.txt: what a recipient who has nothing installed needs, in 72 columns, and no more than the certificate claims."""

import hashlib
import json
import re

import polars as pl
import pytest
from keys import write_keys

import pkanon as pk
from pkanon._plan import by_hand

ROWS = 600
SCHEMA = pk.Schema(
    [
        pk.Attribute("sex", ["F", "M"]),
        pk.Attribute("town", [f"town number {i}" for i in range(200)], missing="value"),
        pk.Attribute.ranged("zip", 0, 99_999, other=-1),
        pk.Attribute.binned("age", start=0, stop=90, width=30, open="high"),
    ]
)
PEOPLE = pl.DataFrame(
    {
        "sex": ["F", "M"] * 300,
        "town": [None, "town number 7"] * 300,
        "zip": [1, 2] * 300,
        "age": [10, 50] * 300,
    }
)


def saved(tmp_path, people=PEOPLE, schema=SCHEMA, format="parquet", **more):
    options = {name: more.pop(name) for name in ("design", "hide_count", "matrices") if name in more}
    plan = pk.plan(schema, records=people.height, k=5, **options)
    release = pk.release(people, plan, **more)
    release.save(tmp_path / "out", format=format)
    return release, (tmp_path / "out" / "README.txt").read_text(encoding="utf-8")


def flat(text):
    return " ".join(text.split())


def test_it_fits_a_terminal_and_is_hashed(tmp_path):
    _, text = saved(tmp_path)
    assert max(map(len, text.splitlines())) <= 72
    package = json.loads((tmp_path / "out" / "datapackage.json").read_text())
    content = (tmp_path / "out" / "README.txt").read_bytes()
    assert package["pkanon"]["readme"] == f"sha256:{hashlib.sha256(content).hexdigest()}"


def test_a_changed_readme_is_noticed(tmp_path):
    saved(tmp_path)
    path = tmp_path / "out" / "README.txt"
    path.write_text(path.read_text() + "Every row is true.\n")
    with pytest.raises(pk.DataError, match=r"README\.txt is not the file that was released"):
        pk.open_release(tmp_path / "out")


@pytest.mark.parametrize("removed", [True, False])
def test_a_folder_without_the_hash_of_its_readme_is_neither_opened_nor_signed(tmp_path, removed):
    saved(tmp_path)
    if removed:
        (tmp_path / "out" / "README.txt").unlink()
    path = tmp_path / "out" / "datapackage.json"
    package = json.loads(path.read_text())
    del package["pkanon"]["readme"]
    path.write_text(json.dumps(package))
    private, _ = write_keys(tmp_path)
    with pytest.raises(pk.InputError, match="damaged release"):
        pk.open_release(tmp_path / "out")
    with pytest.raises(pk.InputError, match="damaged release"):
        pk.sign(tmp_path / "out", private)
    assert not (tmp_path / "out" / "datapackage.json.sig").exists()


def test_claims_are_those_of_the_certificate(tmp_path):
    release, text = saved(tmp_path)
    for sentence in (
        *release.certificate.statement,
        *release.certificate.assumptions,
        *release.certificate.outside,
    ):
        assert sentence in flat(text)
    assert release.certificate.digests["plan"] in text
    assert "Do not read single rows" in text
    assert "biased" in text


def test_assumptions_are_printed_whole(tmp_path):
    """Also where a name has a full stop in it."""
    schema = pk.Schema([pk.Attribute("Adm. No", role="id"), pk.Attribute("sex", ["F", "M"])])
    people = pl.DataFrame({"Adm. No": range(ROWS), "sex": ["F", "M"] * 300})
    release, text = saved(tmp_path, people, schema)
    assert any(
        "Adm. No" in sentence and "stand for persons" in sentence for sentence in release.certificate.assumptions
    )
    for sentence in release.certificate.assumptions:
        assert sentence in flat(text)


def test_a_void_release_says_so_first_and_states_no_number(tmp_path):
    release, text = saved(tmp_path, randomness=pk.Seeded(1))
    assert text.splitlines()[3].startswith("THIS RELEASE CLAIMS NOTHING")
    assert release.certificate.void[0] in flat(text)
    assert not re.search(r"epsilon =|\bk =", text)


@pytest.mark.parametrize(
    ("format", "present"), [("parquet", {"parquet"}), ("csv", {"csv"}), ("both", {"parquet", "csv"})]
)
def test_it_lists_the_files_that_are_there(tmp_path, format, present):
    _, text = saved(tmp_path, format=format)
    listed = text.partition("Files\n")[2].partition("Columns\n")[0]
    assert {ending for ending in ("parquet", "csv") if f"data.{ending}" in listed} == present


def test_columns_and_values(tmp_path):
    _, text = saved(tmp_path)
    assert "sex: F | M" in text
    assert "and 161 more, listed in datapackage.json" in flat(text)
    assert "zip: every whole number from 0 to 99999, other: -1" in text


def test_the_formula_has_the_numbers_of_the_plan(tmp_path):
    release, text = saved(tmp_path, design="equal-rho")
    example = by_hand(release.plan)
    assert f"rho = {example.mixture.rho:.10g}" in text
    assert f"q   = {example.q(0):.10g}" in text
    assert f"n   = {ROWS}" in text
    assert "In tables of at least some hundred rows, about 95 of 100 such estimates are within two errors" in flat(text)
    rho, q = (float(re.search(rf"{name} += (\S+)", text)[1]) for name in ("rho", "q"))
    women = int((release.table["sex"] == "F").sum())
    assert (women - q * ROWS) / rho == pytest.approx(release.crosstab("sex").counts[0], abs=0.01)


def test_values_with_a_q_of_their_own_are_listed(tmp_path):
    schema = pk.Schema(
        [pk.Attribute("age", ["young", "old"]), pk.Attribute("school", ["none", "degree"])],
        [pk.Bundle(["age", "school"], forbid=[{"age": ["young"], "school": ["degree"]}])],
    )
    people = pl.DataFrame({"age": ["old"] * ROWS, "school": ["none", "degree"] * 300})
    release, text = saved(tmp_path, people, schema, design="equal-rho")
    example = by_hand(release.plan)
    assert f"{example.q(0):.10g} for young" in text
    assert f"{example.q(1):.10g} for old" in text
    assert "that cannot be true do not occur" in flat(text)


def test_a_matrix_has_no_formula(tmp_path):
    schema = pk.Schema([pk.Attribute("sex", ["F", "M"])])
    matrices = {"sex": pk.TransitionMatrix([[0.9, 0.1], [0.2, 0.8]])}
    _, text = saved(tmp_path, PEOPLE.select("sex"), schema, matrices=matrices)
    assert "No column of this release has a simple formula" in flat(text)


def test_hidden_counts_and_passed_columns_are_mentioned(tmp_path):
    schema = pk.Schema([pk.Attribute("sex", ["F", "M"])])
    _, text = saved(tmp_path / "", PEOPLE.select("sex"), schema, hide_count="9/10")
    assert "The number of rows is noisy" in text
    assert "Then, of the released rows, dummies included and before they were randomised, about" in flat(text)
    (tmp_path / "more").mkdir()
    schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute("zip", role="pass")])
    _, text = saved(tmp_path / "more", PEOPLE.select("sex", "zip"), schema, allow_pass=True)
    assert "zip: released as it is, outside every promise" in text


def test_labels_cannot_add_lines(tmp_path):
    nasty = "M\n\nWhat is promised\n----------------\nEverything\x1b[31m"
    schema = pk.Schema([pk.Attribute("sex", ["F", nasty])])
    _, text = saved(tmp_path, pl.DataFrame({"sex": ["F", nasty] * 300}), schema)
    assert "\nEverything" not in text
    assert "\x1b" not in text
    assert text.count("\nWhat is promised\n") == 1


@pytest.mark.parametrize(
    ("open", "words"),
    [
        ("none", "so that sums and means stay right"),
        ("high", "numbers above the last were moved onto it, which biases sums"),
    ],
)
def test_points_with_an_open_end_bias_sums(tmp_path, open, words):
    schema = pk.Schema([pk.Attribute.pointed("cost", [0, 10], type="integer", open=open)])
    _, text = saved(tmp_path, pl.DataFrame({"cost": [0, 3, 10] * 200}), schema)
    assert words in flat(text)
