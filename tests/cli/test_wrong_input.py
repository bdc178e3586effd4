"""Wrong input: one clear sentence on standard error, exit code 2, nothing written, no value quoted."""

import gzip
import json
import subprocess
import sys

import polars as pl
import pytest

MARKER = "MARKER7f3a"


def refused(place, result, *fragments):
    code, out, err = result
    assert code == 2
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1  # one line
    assert MARKER not in err
    assert "Traceback" not in err
    for fragment in fragments:
        assert fragment in err
    assert place.names() == ["people.csv", "people.toml", "plan.json"]  # nothing written, nothing lost


def with_row(place, line, *fragments):
    """The usual table with one bad line in the middle."""
    good = (place.folder / "people.csv").read_text().splitlines()[1:]
    place.lines(*good[:100], line, *good[100:])
    refused(place, place.release(), *fragments)


def test_unknown_column(place):
    text = (place.folder / "people.csv").read_text().splitlines()
    place.write("people.csv", "\n".join([text[0] + ",salary", *(line + ",1" for line in text[1:])]) + "\n")
    refused(place, place.release(), "salary")


def test_missing_column(place):
    text = (place.folder / "people.csv").read_text().splitlines()
    place.write("people.csv", "\n".join(line.rpartition(",")[0] for line in text) + "\n")
    refused(place, place.release(), "education")


def test_misspelt_column(place):
    text = (place.folder / "people.csv").read_text()
    place.write("people.csv", text.replace("education", "educaton", 1))
    code, out, err = place.release()
    assert (code, out) == (2, "")
    assert err.count("\n") == 2  # one sentence for the column that is absent, one for the column that is undeclared
    assert "Did you mean 'educaton'" in err


def test_value_outside_the_domain(place):
    with_row(place, f"q1,{MARKER},30,school", "'sex'", "ome rows hold")


def test_how_many_rows_is_said_only_when_it_is_asked_for(place):
    line = f"q1,{MARKER},30,school"
    with_row(place, line, "Column 'sex': some rows hold")
    refused(place, place.release("--exact-counts"), "Column 'sex': 1 row holds")


def test_value_outside_the_bins(place):
    with_row(place, "q1,F,-7,school", "'age'", "ome rows hold")


def test_not_a_number(place):
    with_row(place, f"q1,F,{MARKER},school", "'age'", "ome rows hold")


def test_forbidden_combination(place):
    with_row(place, "q1,F,5,degree", "age", "education", "ome rows hold", "forbid")


def test_missing_value(place):
    with_row(place, "q1,,30,school", "'sex'", "some rows have")


def test_short_line(place):
    with_row(place, "q1,F,30", "line")


def test_short_line_where_missing_values_are_allowed(place):
    place.write(
        "loose.toml",
        (place.folder / "people.toml").read_text().replace('"degree"]\n[[', '"degree"]\nmissing = "value"\n[['),
    )
    place.run("plan", "loose.toml", "--records", "200", "--k", "3", "-o", "loose.json")
    good = (place.folder / "people.csv").read_text().splitlines()[1:]
    place.lines(*good, "q1,F,30")
    code, _, err = place.run("release", "people.csv", "--plan", "loose.json", "-o", "out")
    assert code == 2
    assert "line" in err
    assert "out" not in place.names()


def test_long_line(place):
    with_row(place, f"q1,F,30,school,{MARKER}", "more fields than the header")


def test_repeated_id(place):
    good = (place.folder / "people.csv").read_text().splitlines()[1:]
    place.lines(*good, good[0])
    refused(place, place.release(), "'patient'")


def test_missing_id(place):
    with_row(place, ",F,30,school", "'patient'")


def test_empty_file(place):
    place.write("people.csv", "")
    refused(place, place.release(), "people.csv")


def test_header_only(place):
    place.lines()
    refused(place, place.release())


def test_one_row(place):
    place.lines("p1,F,30,school")
    refused(place, place.release("--allow-fewer"), "one row")


def test_fewer_rows_than_planned(place):
    good = (place.folder / "people.csv").read_text().splitlines()[1:]
    place.lines(*good[:150])
    refused(place, place.release(), "--allow-fewer")


def test_duplicate_column_names(place):
    text = (place.folder / "people.csv").read_text()
    place.write("people.csv", text.replace("patient,sex,age", "patient,sex,sex", 1))
    refused(place, place.release(), "sex")


def test_wrong_delimiter(place):
    place.write("people.csv", (place.folder / "people.csv").read_text().replace(",", ";"))
    refused(place, place.release(), "delimiter", ";")
    assert place.release("--delimiter", ";")[0] == 0


def test_not_utf8(place):
    (place.folder / "people.csv").write_bytes((place.folder / "people.csv").read_bytes() + b"p\xe9,F,30,school\n")
    refused(place, place.release(), "encoding")
    assert place.release("--encoding", "latin-1")[0] == 0


def test_truncated_gzip(place):
    packed = gzip.compress((place.folder / "people.csv").read_bytes())
    (place.folder / "people.csv").unlink()
    (place.folder / "people.csv.gz").write_bytes(packed[:-20])
    code, out, err = place.run("release", "people.csv.gz", "--plan", "plan.json", "-o", "out")
    assert (code, out) == (2, "")
    assert "out" not in place.names()
    assert err.count("\n") == 1


def test_truncated_parquet(place):
    import polars as pl

    pl.read_csv("people.csv").write_parquet("people.parquet")
    whole = (place.folder / "people.parquet").read_bytes()
    for keep in (0, 4, len(whole) // 2, len(whole) - 5):
        (place.folder / "people.parquet").write_bytes(whole[:keep])
        code, out, err = place.run("release", "people.parquet", "--plan", "plan.json", "-o", "out")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "out" not in place.names()


def test_no_such_file(place):
    code, _, err = place.run("release", "nobody.csv", "--plan", "plan.json", "-o", "out")
    assert code == 2
    assert "nobody.csv" in err


def test_existing_output_folder(place):
    (place.folder / "out").mkdir()
    code, out, err = place.release()
    assert (code, out) == (2, "")
    assert "exists" in err
    assert list((place.folder / "out").iterdir()) == []


def test_output_in_no_folder(place):
    code, _, err = place.run("release", "people.csv", "--plan", "plan.json", "-o", "no/such/out")
    assert code == 2
    assert "does not exist" in err


def test_pass_column_without_leave(place):
    place.write("pass.toml", (place.folder / "people.toml").read_text().replace('role = "id"', 'role = "pass"'))
    arguments = ("release", "people.csv", "--schema", "pass.toml", "--k", "3", "-o", "out")
    code, _, err = place.run(*arguments)
    assert code == 2
    assert "--allow-pass" in err
    code, out, err = place.run(*arguments, "--allow-pass")
    assert code == 0
    assert "claims nothing" in out


def test_seed_without_leave(place):
    refused(place, place.release("--seed", "7"), "--seeded-not-private")
    code, out, _ = place.release("--seed", "7", "--seeded-not-private")
    assert code == 0
    assert "claims nothing" in out


def test_data_dependent_matrix_without_leave(place):
    place.write("sex.csv", "120,80\n")
    place.run(
        "plan", "people.toml", "--records", "200", "--k", "3", "--invariant", "sex", "0.5", "sex.csv", "-o", "data.json"
    )
    code, _, err = place.run("release", "people.csv", "--plan", "data.json", "-o", "out")
    assert code == 2
    assert "--data-dependent" in err
    code, out, _ = place.run("release", "people.csv", "--plan", "data.json", "-o", "out", "--data-dependent")
    assert code == 0
    assert "claims nothing" in out


def test_hidden_count_needs_a_public_bound(place):
    arguments = (
        "release",
        "people.csv",
        "--schema",
        "people.toml",
        "--epsilon",
        "8",
        "--hide-count",
        "1/2",
        "-o",
        "out",
    )
    code, _, err = place.run(*arguments)
    assert code == 2
    assert "--records" in err
    code, _, err = place.run(*arguments, "--records", "201")
    assert code == 2
    assert "200" not in err.replace("201", "")  # the true count is hidden, also in errors
    assert place.run(*arguments, "--records", "150")[0] == 0


@pytest.mark.parametrize(
    ("schema", "fragment"),
    [
        ('[attributes.sex]\nvalues = ["F", "M", "F"]\n', "twice"),
        ('[attributes.sex]\nvalues = ["F"]\n', "one value"),
        ('[attributes.sex]\nvalues = []\n', "sex"),
        ('[attributes.sex]\n', "values"),
        ('[attributes.sex]\nvalues = ["F", "M"]\nrole = "quasi"\n', "role"),
        ('[attributes.sex]\nvalus = ["F", "M"]\n', "values"),
        ('[attributes.sex]\nvalues = ["F", 1]\n', "type"),
        ('[attributes.age]\nbins = { start = 0, stop = 90, width = 7 }\n', "width"),
        ('[attributes.age]\nbins = { edges = [0, 5, 5] }\n', "increase"),
        ('[attributes.sex]\nvalues = ["F", "M"]\n[[bundles]]\nattributes = ["sex", "agee"]\n', "agee"),
        ("this is no TOML", "TOML"),
        ("", "attributes"),
    ],
)  # fmt: skip
def test_wrong_schemas(place, schema, fragment):
    place.write("wrong.toml", schema)
    code, out, err = place.run("plan", "wrong.toml", "--records", "200", "--k", "3")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert fragment in err


@pytest.mark.parametrize(
    ("target", "fragment"),
    [
        (["--k", "201"], "200"),
        (["--k", "0.5"], "at least 1"),
        (["--k", "nan"], "nan"),
        (["--k", "many"], "many"),
        (["--k", "1"], "asks for nothing"),
        (["--epsilon", "0"], "above 0"),
        (["--epsilon", "-1"], "above 0"),
        (
            ["--epsilon", "500"],
            "less randomness than random numbers of 64 bits can have. The nearest reachable is k = 1,",
        ),
        (["--k", "200"], "rows would say nothing about anybody. The nearest reachable is k = 199.999999, epsilon"),
        ([], "--k 20, --epsilon 2"),
    ],
)
def test_targets_that_cannot_be_met(place, target, fragment):
    code, out, err = place.run("plan", "people.toml", "--records", "200", *target)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert fragment in err


def test_damaged_plan(place):
    place.write("plan.json", (place.folder / "plan.json").read_text().replace("replace", "swap"))
    refused(place, place.release(), "swap")
    place.write("plan.json", "{}")
    refused(place, place.release(), "format")
    place.write("plan.json", "[")
    refused(place, place.release(), "JSON")


def test_nothing_said_about_the_plan(place):
    refused(place, place.run("release", "people.csv", "-o", "out"), "--plan")


def test_usage_errors(place):
    code, _, err = place.run("release")
    assert code == 2
    assert "TABLE" in err
    code, _, err = place.run("no-such-verb")
    assert code == 2


def test_anonymity_of_an_unknown_column(place):
    refused(place, place.run("anonymity", "people.csv", "sx"), "'sx'")
    refused(place, place.run("anonymity", "people.csv", "sex", "age", "educaton"), "Did you mean 'education'?")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["plan", "people.csv", "--records", "200", "--k", "3"], "is a table, not a schema; pkanon schema people.csv"),
        (["plan-for-error", "people.csv", "--table", "sex", "--error", "1", "--k", "3"], "pkanon schema people.csv"),
        (["plan", "plan.json"], "not a schema; pkanon explain"),
        (["release", "people.csv", "--schema", "people.csv", "--k", "3", "--check"], "a table, not a schema"),
        (["release", "people.csv", "--plan", "people.toml", "--check"], "people.toml is a schema, not a plan"),
        (
            ["release", "people.csv", "--plan", ".", "--check"],
            "a folder, not a plan; the plan of a release is plan.json",
        ),
        (["explain", "people.csv"], "people.csv is a table; give a plan, or the folder of a release"),
        (["explain", "people.toml"], "pkanon plan people.toml"),
        (["compose", "people.csv"], "people.csv is a table, not a plan"),
        (["compose", "."], "not a finished release"),
        (["plan", "nobody.csv"], "No such file"),
        (["crosstab", "nowhere", "sex"], "nowhere is not a release: it does not exist"),
        (["crosstab", "plan.json", "sex"], "give its folder, or the Parquet file inside"),
    ],
)
def test_a_file_of_another_kind(place, arguments, sentence):
    refused(place, place.run(*arguments), sentence)


def test_given_an_attribute_that_is_not_in_the_table(place):
    assert place.release()[0] == 0
    code, _, err = place.run("crosstab", "out", "sex", "--given", "age")
    assert (code, err) == (
        2,
        "error: --given age needs age in the table: pkanon crosstab out sex age --given age.\n",
    )
    code, _, err = place.run("crosstab", "out", "sex", "--given", "agee")
    assert (code, "no attribute 'agee'" in err) == (2, True)


@pytest.mark.parametrize(("level", "hint"), [("95", " Did you mean 0.95?"), ("1", ""), ("100", ""), ("-95", "")])
def test_a_confidence_level_in_percent(place, level, hint):
    assert place.release()[0] == 0
    code, _, err = place.run("crosstab", "out", "sex", "--level", level)
    assert code == 2
    assert err.endswith(f"it cannot be {float(level)}.{hint}\n")


def test_a_file_without_a_header_gives_nobody_away(place):
    text = (place.folder / "people.csv").read_text().partition("\n")[2]
    place.write("people.csv", f"{MARKER},F,30,school\n{text}")
    refused(place, place.release(), "first line")
    refused(place, place.run("schema", "people.csv", "-o", "draft.toml"), "first line")
    refused(place, place.run("anonymity", "people.csv", MARKER[:-1]))


def test_unlisted_values_taken_as_other_are_told(place):
    place.write("other.toml", (place.folder / "people.toml").read_text().replace('["F", "M"]', '["F"]\nother = "X"'))
    code, out, _ = place.run("release", "people.csv", "--schema", "other.toml", "--k", "3", "--check")
    assert code == 0
    assert "Up to 50% of the rows hold an unlisted value of 'sex'" in out


def test_what_is_not_a_plan_or_a_schema():
    import pkanon as pk

    with pytest.raises(pk.InputError, match="read_plan"):
        pk.release("people.csv", "plan.json")
    with pytest.raises(pk.InputError, match="read_schema"):
        pk.plan("people.toml", records=10, k=2)


@pytest.mark.parametrize(
    "option",
    [
        ("--schema", "people.toml"), ("--records", "200"), ("--k", "3"), ("--epsilon", "3"), ("--central-epsilon", "3"),
        ("--delta", "0.1"), ("--design", "joint"), ("--workload", "2"), ("--weighting", "absolute"), ("--floor", "none"),
        ("--hide-count", "1/2"),
    ],
)  # fmt: skip
def test_a_plan_says_everything(place, option):
    refused(place, place.release(*option), "--plan fixes all of this")


def test_a_draft_is_released_only_when_that_is_asked_for_by_name(place):
    confirmed = (place.folder / "people.toml").read_text()
    place.write("people.toml", 'domains = "drafted"\n' + confirmed.partition("\n")[2])
    arguments = ("release", "people.csv", "--schema", "people.toml", "--k", "3")
    refused(place, place.run(*arguments, "-o", "out"), "--drafted-not-protected")
    assert place.run(*arguments, "--check")[0] == 2
    code, out, err = place.run(*arguments, "--drafted-not-protected", "-o", "out")
    assert (code, out.splitlines()[1]) == (0, "  This release claims nothing.")
    assert err.startswith("warning: this release claims nothing: ")
    assert "nobody has confirmed" in err
    code, out, err = place.run(*arguments, "--drafted-not-protected", "-o", "again", "--json")
    assert (code, json.loads(out)["certificate"]["claims"]) == (0, None)
    assert err.startswith("warning: this release claims nothing: ")
    code, out, _ = place.run(*arguments, "--drafted-not-protected", "--check")
    assert code == 0
    assert "A release would claim nothing" in out


def test_a_schema_that_nobody_has_confirmed_is_noted(place):
    text = (place.folder / "people.toml").read_text()
    (place.folder / "bare.toml").write_text("\n".join(text.splitlines()[2:]))
    code, _, err = place.run("release", "people.csv", "--schema", "bare.toml", "--k", "3", "-o", "out")
    assert code == 0
    assert "who has confirmed that its values are public knowledge and what the rows are (pkanon confirm" in err
    assert (
        place.run("release", "people.csv", "--schema", "people.toml", "--k", "3", "-o", "again")[2].count("note:") == 1
    )


def test_a_panic_of_a_library_is_not_printed(place):
    """polars panics over an Arrow file that lost its middle, and would print a traceback by itself."""
    people = pl.DataFrame({"sex": ["F", "M"] * 200, "age": [i % 90 for i in range(400)]})
    people.write_ipc(place.folder / "people.arrow")
    whole = (place.folder / "people.arrow").read_bytes()
    middle = len(whole) // 2
    (place.folder / "people.arrow").write_bytes(whole[:middle] + whole[middle + 600 :])
    ended = subprocess.run(
        [sys.executable, "-m", "pkanon", "anonymity", "people.arrow", "sex"],
        cwd=place.folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    said = "error: people.arrow is not a complete Arrow file (Feather version 2, IPC file or stream).\n"
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", said)
