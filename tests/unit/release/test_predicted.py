"""predicted.csv in a release folder: what it says, that older releases do without it, and a warning where little can be read."""

import csv
import json
import math
import warnings
from fractions import Fraction

import polars as pl
import pytest
from tampering import edit, rehash

import pkanon as pk
from pkanon._release import disagreements, predicted, readme

SCHEMA = pk.Schema(
    [pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("rooms", 1, 9), pk.Attribute('a, "b"', ["x", "y"])]
)
ROWS = 600
PEOPLE = pl.DataFrame({"sex": ["F", "M"] * 300, "rooms": [1, 5, 9] * 200, 'a, "b"': ["x", "x", "y"] * 200})


def planned(**more):
    return pk.plan(SCHEMA, records=ROWS, **({"k": 3} | more))


def lines(folder):
    with open(folder / "predicted.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_table_of_one_and_two_columns_is_there(tmp_path):
    plan = planned()
    pk.release(PEOPLE, plan).save(tmp_path / "out")
    found = lines(tmp_path / "out")
    assert len(found) == 6
    for line in found:
        prediction = plan.predict(*json.loads(line["attributes"]))
        assert line["table"] == " x ".join(prediction.attributes)
        assert int(line["cells"]) == prediction.cells
        assert float(line["l1"]) == pytest.approx(prediction.l1, rel=1e-5)
        assert line["level"] == plan.readable().of(*prediction.attributes).level
        assert line["exact"] == "true"
    package = json.loads((tmp_path / "out" / "datapackage.json").read_text())
    assert set(package["pkanon"]) == {"rows", "plan", "certificate", "readme", "predicted"}
    assert "predicted.csv" in (tmp_path / "out" / "README.txt").read_text()


def test_errors_are_for_the_rows_that_were_released(tmp_path):
    plan = planned()
    pk.release(PEOPLE[:150], plan, allow_fewer=True).save(tmp_path / "out")
    for line in lines(tmp_path / "out"):
        assert float(line["l1"]) == pytest.approx(2 * plan.predict(*json.loads(line["attributes"])).l1, rel=1e-5)


def test_the_tables_of_a_named_workload_are_there(tmp_path):
    schema = pk.Schema([*SCHEMA.attributes[:2], pk.Attribute("job", ["x", "y"])])
    plan = pk.plan(schema, records=ROWS, k=3, workload=[("sex", "rooms", "job")])
    pk.release(PEOPLE.rename({'a, "b"': "job"}), plan).save(tmp_path / "out")
    assert json.loads(lines(tmp_path / "out")[-1]["attributes"]) == ["sex", "rooms", "job"]
    assert pk.verify(tmp_path / "out").ok


def test_a_workload_that_a_plan_file_cannot_hold_is_left_out(tmp_path):
    pk.release(PEOPLE, planned(workload=[("sex", "rooms", 'a, "b"')])).save(tmp_path / "out")
    assert len(lines(tmp_path / "out")) == 6
    assert pk.verify(tmp_path / "out").ok


def test_nothing_left_is_infinite_and_agrees():
    unit = pk.Unit(("sex",), (2,))
    plan = pk.Plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), (pk.Retention(unit, replace=2**31),), ROWS)
    text = predicted(plan, ROWS)
    assert text.splitlines()[1] == 'sex,"[""sex""]",2,inf,not readable,true'
    assert disagreements(text, plan, ROWS) == []


def test_the_last_digit_may_differ_but_no_more():
    plan = planned()
    text = predicted(plan, ROWS)
    l1 = next(csv.DictReader(text.splitlines()))["l1"]
    step = Fraction(1, 10 ** len(l1.partition(".")[2]))
    near, far = (str(float(Fraction(l1) + times * step)) for times in (1, 50))
    assert disagreements(text.replace(l1, near, 1), plan, ROWS) == []
    assert disagreements(text.replace(l1, far, 1), plan, ROWS) == ["1 of its 6 lines are not what the plan gives."]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("sex,", '"sex",', 1),
        lambda text: text + "\n",
        lambda text: text.replace("l1", "error", 1),
        lambda text: "",
        lambda text: text.replace("true", "false", 1),
        lambda text: text.replace("fair", "good", 1),
        lambda text: text.replace("0.", "nan", 1),
        lambda text: text.replace("0.", "0.0", 1),
        lambda text: text + '"',
    ],
)
def test_no_other_text_agrees(change):
    plan = planned()
    text = change(predicted(plan, ROWS))
    assert text != predicted(plan, ROWS)
    assert disagreements(text, plan, ROWS) != []


def without_errors(folder):
    """The release as the first versions wrote it."""
    release = pk.open_release(folder)
    (folder / "predicted.csv").unlink()
    text = readme(release.plan, release.certificate, ("data.parquet",), with_errors=False)
    (folder / "README.txt").write_text(text, encoding="utf-8")
    edit(folder, "datapackage.json", lambda package: package["pkanon"].pop("predicted"))
    rehash(folder)


def test_releases_without_predicted_errors_open_and_verify(tmp_path):
    pk.release(PEOPLE, planned()).save(tmp_path / "out")
    without_errors(tmp_path / "out")
    assert pk.open_release(tmp_path / "out").rows == ROWS
    found = pk.verify(tmp_path / "out")
    assert found.ok, str(found)
    assert found["predicted.csv"].verdict == "not checked"
    assert "predicted.csv" not in (tmp_path / "out" / "README.txt").read_text()


def test_an_edited_error_does_not_open(tmp_path):
    pk.release(PEOPLE, planned()).save(tmp_path / "out")
    path = tmp_path / "out" / "predicted.csv"
    path.write_text(path.read_text().replace("fair", "good"))
    with pytest.raises(pk.DataError, match=r"predicted\.csv is not the file that was released"):
        pk.open_release(tmp_path / "out")


def test_a_release_that_can_hardly_be_read_warns():
    plan = planned(k=300)
    with pytest.warns(pk.ReadabilityWarning, match=r"of the 6 tables .* cannot be read: .* pkanon advise") as caught:
        pk.release(PEOPLE, plan)
    assert caught[0].filename == __file__
    with pytest.warns(pk.ReadabilityWarning, match="The table that this plan serves cannot be read"):
        pk.release(PEOPLE, planned(k=20, workload="full"))


@pytest.mark.parametrize("more", [{}, {"k": 20, "workload": 1}, {"k": 300, "workload": [("sex",)]}])
def test_a_release_whose_workload_can_be_read_does_not_warn(more):
    plan = planned(**more)
    served = plan.served()
    assert served.counts()["not readable"] <= len(served.tables) / 2
    with warnings.catch_warnings():
        warnings.simplefilter("error", pk.ReadabilityWarning)
        pk.release(PEOPLE, plan)


def test_a_seeded_release_is_not_for_reading():
    with warnings.catch_warnings():
        warnings.simplefilter("error", pk.ReadabilityWarning)
        pk.release(PEOPLE, planned(k=300), randomness=pk.Seeded(7))


def test_a_hidden_count_has_predicted_errors_too(tmp_path):
    plan = pk.plan(SCHEMA, records=500, epsilon=8, hide_count="1/1000")
    release = pk.release(PEOPLE, plan)
    release.save(tmp_path / "out")
    assert pk.verify(tmp_path / "out").ok
    assert all(math.isfinite(float(line["l1"])) for line in lines(tmp_path / "out"))
