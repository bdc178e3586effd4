"""Drafts of columns about single people: they are told by name, they get no role, and their values go nowhere."""

import json
import logging

import polars as pl
import pytest

from pkanon._cli import run
from pkanon._frames import draft_schema
from pkanon._frames.draft.words import words_in
from pkanon._schema import Attribute
from pkanon._schema.toml import parse

N = 400
MARKER = "Quastenberg"
WORDS = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "inlet", "knoll", "ledge", "marsh"]
NAMES = [f"{a.title()} {b.title()}{c.title()}" for a in WORDS for b in WORDS for c in WORDS[:3]]


def found(name, values):
    """How one column is drafted, and what somebody must look at."""
    made = draft_schema(pl.DataFrame({name: values, "z": ["p", "q"] * (len(values) // 2)}))
    return made.columns[0].drafted_as, made.columns[0].warning


@pytest.mark.parametrize(
    ("name", "values", "what"),
    [
        ("remark", ["called twice", None] * 200, "free text"),
        ("Bemerkungen", ["ok", "later"] * 200, "free text"),
        ("free text", ["ok", "later"] * 200, "free text"),
        ("c", [f"{name} will come on another day" for name in NAMES[:N]], "free text"),
        ("c", ["fine"] * 399 + ["call me at 0171 5550123 please"], "free text"),
        ("c", ["fine", "all good", "so so"] * 133 + ["her brother Otto visits daily"], "free text"),
        ("c", ["fine"] * 398 + ["ask Frau Quastenberg", "fine again"], "names of people"),
        ("name", ["Ann", "Bo", "Cy", "Di"] * 100, "names of people"),
        ("Last Name", ["Ann", "Bo"] * 200, "names of people"),
        ("Prénom", ["Ann", "Bo"] * 200, "names of people"),
        ("patient_name", ["Ann", "Bo"] * 200, "names of people"),
        ("c", NAMES[:N], "names of people"),
        ("c", [f"{name.split()[1]}, {name.split()[0]}" for name in NAMES[:N]], "names of people"),
        ("c", ["none"] * 399 + ["jane@example.org"], "e-mail addresses"),
        ("c", [f"0171 55{i:05}" for i in range(N)], "phone numbers"),
        ("c", [f"+49 (30) 55{i:05}" for i in range(N)], "phone numbers"),
        ("Telefon", [f"55{i:05}x" for i in range(N)], "phone numbers"),
        ("c", ["0171 5550123", "+49 30 5550124"] * 200, "phone numbers"),
        ("c", ["DE89370400440532013000", "FR76 3000 6000 0112 3456 7890 189"] * 200, "account numbers"),
        ("c", ["Hauptstr. 5", "Am Markt 3", "Lindenstr. 12"] * 133 + ["Hauptstr. 5"], "addresses"),
        ("c", [f"{i} Elm Street" for i in range(N)], "addresses"),
        ("c", [f"Lindenstraße {i % 200}" for i in range(N)], "addresses"),
        ("address", [f"{word} {i}" for word in WORDS[:10] for i in range(40)], "addresses"),
    ],
)
def test_what_is_about_single_people_gets_no_role(name, values, what):
    assert found(name, values) == ("undecided", f"looks like {what}")


@pytest.mark.parametrize(
    ("name", "values", "what"),
    [
        ("c", [f"{name.split()[1]}, {name.split()[0]}" for name in NAMES[:200]] * 2, "looks like names of people"),
        ("c", [f"u{i % 200}@example.org" for i in range(N)], "looks like e-mail addresses"),
        (
            "c",
            [f"u{i % 60}@example.org" for i in range(60 * 28)],
            "looks like e-mail addresses",
        ),  # a diary of four weeks
        ("Telefon", [f"55{i % 300:05}x" for i in range(N)], "looks like phone numbers"),
        ("c", [f"AT{i % 200:018}" for i in range(N)], "looks like account numbers"),
        ("c", [f"{WORDS[i % 200 % 12]}{i % 200}" for i in range(N)], "mostly rare values"),
    ],
)
def test_what_points_to_persons_and_comes_again_may_show_several_rows_of_a_person(name, values, what):
    assert found(name, values) == ("undecided", f"{what}; repeats: a person may have several rows")


@pytest.mark.parametrize(
    ("name", "values", "short"),
    [
        ("patient", NAMES[:200] * 2, "looks like names of people; repeats: rows may not be persons"),
        ("Kennung", [i % 200 for i in range(N)], "repeats: rows may not be persons"),
        (
            "SVNR",
            [f"{i % 200:04} 010190" for i in range(N)],
            "looks like phone numbers; repeats: rows may not be persons",
        ),
        ("c", [f"{i % 200:08x}-{7 * i % 200:024x}" for i in range(N)], "repeats: persons, or a code?"),
    ],
)
def test_persons_are_found_by_the_name_of_a_column_or_by_its_form(name, values, short):
    assert found(name, values) == ("undecided", short)


@pytest.mark.parametrize(
    ("name", "values", "short"),
    [
        ("person", [f"P{i:05}" for i in range(N)], "different in every row"),
        ("patient", NAMES[:N], "looks like names of people"),
    ],
)
def test_what_never_repeats_is_not_said_to_repeat(name, values, short):
    assert found(name, values) == ("undecided", short)


@pytest.mark.parametrize(
    ("name", "values", "what"),
    [
        ("c", ["Dr. Amber", "Dr. Birch"] * 200, "names of people"),  # two people, none of whom a row is about
        ("name", NAMES[:60] * 28, "names of people"),  # doctors, rather
        ("surname", [name.split()[1] for name in NAMES[:200]] * 2, "names of people"),  # relatives share it
        ("remark", [f"called {name}" for name in NAMES[:200]] * 2, "free text"),
        ("c", [f"Lindenstraße {i % 200}" for i in range(N)], "addresses"),  # a household shares it
    ],
)
def test_what_others_share_shows_nothing_about_persons(name, values, what):
    assert found(name, values) == ("undecided", f"looks like {what}")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("country name", ["France", "Spain", "El Salvador", "Costa Rica"] * 100),
        ("education", ["less than high school", "some college", "master's degree or higher"] * 133 + ["some college"]),
        ("phone", ["yes", "no"] * 200),
        ("address known", ["yes", "no"] * 200),
        ("income", ["60000-74999", "75000-99999", "0-4999", "100000-149999"] * 100),
        ("income", ["low (10000-20000)", "high (20000-30000)"] * 200),
        ("period", ["period 01/2020 - 06/2020", "period 07/2020 - 12/2020"] * 200),
        ("puma", [f"{i % 8:02}-{1300 + i % 8:05}" for i in range(N)]),
        ("job", ["Sr Manager", "Other service", "Farming and fishing"] * 133 + ["Sr Manager"]),
        ("town", ["New York", "Los Angeles", "San Diego"] * 133 + ["New York"]),
        ("notebook", ["yes", "no"] * 200),
        ("Note Mathe", ["1", "2-", "3+", "-"] * 100),
    ],
)
def test_ordinary_labels_are_not_taken_for_people(name, values):
    assert found(name, values) == ("list", "")


def test_texts_that_few_rows_share_get_no_role_whatever_they_are():
    assert found("c", ["fine"] * 395 + ["k1x", "l2y", "m3z", "fine", "n4"]) == ("undecided", "mostly rare values")
    assert found("c", ["a", "b", "c", "d"] * 99 + ["e", "a", "b", "c"]) == ("list", "rare values: 1")


def test_rare_values_are_counted_not_named():
    made = draft_schema(
        pl.DataFrame({"code": ["a", "b", "c"] * 130 + ["xq7"] * 4 + ["yq8"] * 5 + ["zq9"], "z": ["p", "q"] * 200})
    )
    assert made.columns[0].warning == "rare values: 2"
    assert "fewer than 5 rows hold (2 of 6)" in made.warnings[0]
    assert not any(value in line for value in ("xq7", "zq9") for line in (*made.warnings, *made.notes))
    made = draft_schema(pl.DataFrame({"size": [1, 2, 3] * 133 + [4], "z": ["p", "q"] * 200}))
    assert made.columns[0].warning == "rare values: 1"


def test_numbers_of_cases_and_columns_that_are_almost_unique():
    assert found("visit no", list(range(N))) == ("undecided", "looks like a case number")
    assert found("Fallnummer", [f"F{i:05}" for i in range(N)]) == ("undecided", "looks like a case number")
    assert found("c", [*range(N - 2), 0, 1]) == ("undecided", "almost unique")
    assert found("c", [*range(0, 3 * N, 3)][: N - 9] + [None] * 9) == ("undecided", "different in every row")
    assert found("c", [1.5 * i for i in range(N)])[0] == "bins"  # a measure
    assert found("c", ["a", "b"] + [None] * (N - 2))[0] == "list"


def test_a_number_that_repeats_says_how_many_there_are_to_plan_for():
    for name, shape in (("patient", "P{}"), ("c", "{:05}")):
        made = draft_schema(pl.DataFrame({name: [shape.format(i % 150) for i in range(N)], "z": ["p", "q"] * 200}))
        assert "It holds 150 different values: with one row of each, plan for so many records." in made.warnings[0]
        assert "150" not in made.to_toml()  # the number of people may be hidden from those who read the schema
        assert made.warnings[0].partition(" It holds ")[0] in " ".join(made.to_toml().replace("#", "").split())


def labelled(folder, name, labels):
    """How a column of SPSS is drafted whose codes have these labels, and what the file of the draft says."""
    import pyreadstat

    codes = [i % len(labels) + 1 for i in range(N)]
    pyreadstat.write_sav(
        pl.DataFrame({name: codes, "z": ["p", "q"] * 200}),
        str(folder / "people.sav"),
        variable_value_labels={name: dict(enumerate(labels, 1))},
    )
    made = draft_schema(folder / "people.sav")
    return made.columns[0].drafted_as, made.columns[0].warning, made.to_toml()


@pytest.mark.parametrize(
    ("name", "labels", "warning"),
    [
        ("patient", NAMES[:120], "repeats: rows may not be persons"),
        ("seen_by", ["nobody", "Dr. Quastenberg", "Dr. Birch"], "looks like names of people"),
        ("lastname", ["Amber", "Birch", "Cedar"], "looks like names of people"),
        ("c", NAMES[:120], "looks like names of people"),
        ("c", ["none", "jane@example.org"], "looks like e-mail addresses"),
    ],
)
def test_labels_of_a_file_that_name_people_are_not_copied(tmp_path, name, labels, warning):
    drafted_as, told, toml = labelled(tmp_path, name, labels)
    assert (drafted_as, told) == ("undecided", warning)
    assert not any(label in toml for label in labels if label not in ("none", "nobody"))


def test_a_label_that_nobody_has_may_name_somebody_too(tmp_path):
    import pyreadstat

    pyreadstat.write_sav(
        pl.DataFrame({"seen_by": [1, 2] * 20}),
        str(tmp_path / "people.sav"),
        variable_value_labels={"seen_by": {1: "nobody", 2: "a nurse", 3: f"Dr. {MARKER}"}},
    )
    assert draft_schema(tmp_path / "people.sav").columns[0].warning == "looks like names of people"


def test_long_labels_of_a_file_are_public(tmp_path):
    jobs = [f"Operators of {word} machines and others Elsewhere" for word in WORDS]
    drafted_as, told, _ = labelled(tmp_path, "remark", [*jobs, *(f"{word} of some other kind" for word in WORDS)])
    assert (drafted_as, told) == ("list", "")


def test_words_in_names():
    assert words_in("PatientID") == {"patient", "id"}
    assert words_in("Patientennummer") in ({"patienten", "nummer"}, {"patient", "nummer"})
    assert words_in("MRN_2") == {"mrn"}
    assert words_in("Straße/Prénom") == {"strasse", "prenom"}
    assert words_in("idea notebook") == {"idea", "notebook"}


REMARKED = {
    "remark": [f"{MARKER} {word}" for word in WORDS] * 10,
    "who": [f"{name} {MARKER}" for name in NAMES[:120]],
    "number": [f"{MARKER}{i}" for i in range(120)],
    "visitor": [f"{MARKER}{i % 60}" for i in range(120)],
    "hint": ["ok"] * 100 + [f"Dr. {MARKER}"] * 20,
    "many": [f"{MARKER} {i % 55}" for i in range(120)],
    "same": [MARKER] * 120,
    "sex": ["F", "M"] * 60,
}


def test_values_about_people_go_nowhere(tmp_path, monkeypatch, capsys, caplog):
    caplog.set_level(logging.DEBUG)
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame(REMARKED)
    frame.write_csv("people.csv")
    frame.write_parquet("people.parquet")
    for table in ("people.csv", "people.parquet"):
        assert run(["schema", table, "-o", f"{table}.toml"]) == 0
        assert run(["schema", table]) == 0
        assert run(["schema", table, "--json"]) == 0
        assert run(["schema", table, "--columns", "remark,who,many,sex"]) == 0
        assert run(["schema", table, "--columns", "same"]) == 2
        assert run(["plan", f"{table}.toml", "--records", "120", "--k", "2"]) == 2
        assert MARKER not in (tmp_path / f"{table}.toml").read_text()
    out, err = capsys.readouterr()
    assert "remark" in out
    assert MARKER not in out + err + caplog.text
    made = draft_schema(frame)
    assert MARKER not in repr(made) + made.to_toml() + json.dumps(made.schema.to_json())
    assert [attribute.name for attribute in made.schema.randomised] == ["sex"]
    assert parse(made.to_toml()) == made.schema


def test_an_undecided_column_has_a_name_and_nothing_else():
    made = draft_schema(pl.DataFrame(REMARKED))
    assert made.schema.attribute("remark") == Attribute("remark", role="undecided")
    assert '[attributes.remark]\ntype = "text"\nrole = "undecided"\n' in made.to_toml()
    assert "# Without an entry, so dropped: 'same'\n" in made.to_toml()
