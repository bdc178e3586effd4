"""Verbs that print estimates: formats that exclude each other, charts, and what goes to standard error."""

import importlib.util
import json
from pathlib import Path

import polars as pl
import pytest

import pkanon as pk
from pkanon._cli import destinations
from pkanon._errors import did_you_mean
from pkanon._results import tabular

VERBS = {
    "crosstab": ["crosstab", "out", "sex", "education"],
    "describe": ["describe", "out", "age"],
    "query": ["query", "out", "SELECT sex, COUNT(*) AS n FROM release GROUP BY sex"],
    "correlations": ["correlations", "out"],
    "association": ["association", "out", "sex", "age"],
    "test": ["test", "out", "sex=F", "--trend", "age"],
    "regress": ["regress", "out", "age ~ 1"],
}
HIDDEN = "the record count is hidden"


@pytest.fixture
def released(place):
    """A seeded release: in some of 200 rows nothing could be said about an association."""
    code, _, err = place.release("--seed", "7", "--seeded-not-private")
    assert code == 0, err
    return place


@pytest.fixture
def hidden(place):
    """A release whose record count is hidden."""
    code, _, err = place.run(
        "release", "people.csv", "--schema", "people.toml", "--records", "100", "--epsilon", "20",
        "--hide-count", "9/10", "-o", "out",
    )  # fmt: skip
    assert code == 0, err
    return place


def refused(place, *arguments):
    before = place.names()
    code, out, err = place.run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert place.names() == before
    return err


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("flags", [("--csv", "--json"), ("--json", "--csv"), ("--parquet", "--csv")])
def test_formats_exclude_each_other(released, verb, flags):
    err = refused(released, *VERBS[verb], *flags)
    assert "exclude each other" in err
    assert all(flag in err for flag in flags)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(("name", "flag"), [("x.csv", "--json"), ("x.parquet", "--csv"), ("x.json", "--parquet")])
def test_a_format_that_contradicts_its_file_is_refused(released, verb, name, flag):
    assert f"{flag} does not match the ending of {name}" in refused(released, *VERBS[verb], "-o", name, flag)


@pytest.mark.parametrize("verb", VERBS)
def test_a_format_that_says_what_its_file_says_is_taken(released, verb):
    code, out, _ = released.run(*VERBS[verb], "-o", "x.csv", "--csv")
    assert (code, out) == (0, "Written to x.csv.\n")
    assert pl.read_csv("x.csv").height


@pytest.mark.parametrize("verb", ["crosstab", "correlations"])
@pytest.mark.parametrize("chart", ["there.svg", "nowhere/c.svg", "c.gif"])
def test_a_chart_that_cannot_be_written_leaves_no_result_either(released, verb, chart):
    released.write("there.svg", "mine")
    refused(released, *VERBS[verb], "--chart", chart, "-o", "x.csv")
    assert Path("there.svg").read_text() == "mine"


@pytest.mark.parametrize("verb", ["crosstab", "correlations"])
def test_a_chart_beside_a_result(released, verb):
    code, _, err = released.run(*VERBS[verb], "--chart", "c.json", "-o", "x.csv")
    assert code == 0
    assert "the chart is in c.json" in err
    assert "$schema" in json.loads(Path("c.json").read_text())
    assert Path("x.csv").exists()


def test_a_chart_of_shares(released):
    code, _, err = released.run("crosstab", "out", "sex", "education", "--given", "sex", "--chart", "c.json", "--csv")
    assert code == 0, err
    drawn = Path("c.json").read_text()
    assert "% of sex" in drawn
    code, _, err = released.run("crosstab", "out", "sex", "education", "--chart", "d.json", "--csv")
    assert code == 0, err
    assert "% of" not in Path("d.json").read_text()


@pytest.mark.parametrize("flags", [(), ("--csv",), ("--json",)])
@pytest.mark.parametrize("verb", VERBS)
def test_a_hidden_count_is_told_beside_every_result(hidden, verb, flags):
    code, out, err = hidden.run(*VERBS[verb], *flags)
    assert code == 0, err
    if verb != "query" or flags != ("--json",):  # whose notes are part of the document alone
        assert HIDDEN in err.lower()
    # tests and regressions have their remarks beside them
    assert (HIDDEN in out.lower()) == (flags == ("--json",) and verb not in ("test", "regress"))
    if flags == ("--csv",):
        pl.read_csv(out.encode())
    if flags == ("--json",):
        json.loads(out)


def test_an_association_has_the_columns_of_correlations(released):
    released.run(*VERBS["association"], "-o", "one.csv", "--level", "0.9")
    released.run(*VERBS["correlations"], "-o", "all.csv", "--level", "0.9")
    one, every = pl.read_csv("one.csv"), pl.read_csv("all.csv")
    assert one.columns == every.columns
    measures = ["chi_square", "degrees_of_freedom", "p_value", "cramers_v", "mutual_information"]
    assert one["measure"].to_list() == measures
    pair = (pl.col("first") == "sex") & (pl.col("second") == "age")
    assert one.filter(measure="cramers_v").equals(every.filter(pair))
    assert one.head(3)["std_error"].null_count() == 3
    assert one.tail(2).null_count().row(0) == (0,) * 7 + (2,)  # no flag


def test_an_association_is_the_same_in_python_and_in_every_format(released):
    found = pk.open_release("out").crosstab("sex", "age").association()
    code, out, _ = released.run(*VERBS["association"], "--json")
    assert code == 0
    document = json.loads(out)
    assert document == found.to_json()
    assert (document["about"], document["level"], document["attributes"]) == ("population", 0.95, ["sex", "age"])
    low, high = found.cramers_v.interval()
    assert document["cramers_v"] == {
        "value": found.cramers_v.value, "std_error": found.cramers_v.standard_error, "low": low, "high": high,
    }  # fmt: skip
    code, _, _ = released.run(*VERBS["association"], "-o", "one.parquet")
    assert code == 0
    frame = pl.read_parquet("one.parquet")
    assert frame.equals(found.to_polars())
    assert frame["value"].to_list()[:3] == [found.chi_square, found.degrees_of_freedom, found.p_value]


def test_a_regression_is_the_same_in_python_and_in_every_format(released):
    found = pk.open_release("out").regress("age ~ 1", level=0.9)
    code, out, err = released.run(*VERBS["regress"], "--level", "0.9")
    assert (code, out, err) == (0, f"{found}\n", "")
    code, out, _ = released.run(*VERBS["regress"], "--level", "0.9", "--json")
    assert (code, json.loads(out)) == (0, found.to_json())
    released.run(*VERBS["regress"], "--level", "0.9", "-o", "fit.parquet")
    assert pl.read_parquet("fit.parquet").equals(found.to_polars())
    code, out, _ = released.run(
        "regress", "out", "sex[M] ~ 1", "--family", "logistic", "--about", "table", "--missing", "category"
    )
    assert code == 0
    assert "Logistic regression" in out
    assert "Errors about:" in out


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (["age ~ SEX"], "Did you mean 'sex'?"),
        (["age"], "with ~ between them"),
        (["sex ~ age"], "write one of them, sex == 'M', or say which number"),
        (["age ~ sex", "--family", "probit"], "'probit' is not one of"),
        (["age ~ sex", "--weights", "sex"], "'sex' cannot be weights"),
        (["age ~ sex + I(sex == 'M')"], "determine each other"),
    ],
)
def test_a_regression_that_cannot_be_is_refused(released, asked, sentence):
    assert sentence in refused(released, "regress", "out", *asked)


def test_a_count_that_is_not_hidden_is_not_mentioned(released):
    for arguments in VERBS.values():
        code, out, err = released.run(*arguments)
        assert code == 0, err
        assert HIDDEN not in (out + err).lower()


def test_groups_and_weights_of_a_description(released):
    code, out, err = released.run("describe", "out", "--by", "sex", "--csv")
    assert code == 0, err
    frame = pl.read_csv(out.encode())
    assert frame.columns == ["sex", "attribute", "statistic", "value", "std_error", "low_95", "high_95", "flag"]
    assert frame["sex"].unique(maintain_order=True).to_list() == ["F", "M"]
    assert "its values must stand for numbers" in refused(released, "describe", "out", "age", "--weights", "sex")


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("SEX", ["age", "sex"], "sex"),
        ("straße", ["STRASSE", "age"], "STRASSE"),
        ("Age", ["AGE_", "age"], "age"),
        ("educaton", ["sex", "education"], "education"),
    ],
)
def test_names_are_suggested_whatever_their_case(name, known, meant):
    assert did_you_mean(name, known) == f"Available: {', '.join(known)}. Did you mean '{meant}'?"


def test_nothing_is_suggested_where_nothing_is_near():
    assert did_you_mean("zzz", ["sex", "age"]) == "Available: sex, age."
    assert did_you_mean("zzz", []) == "Available: none."


def test_case_is_forgiven_in_messages_of_verbs(released):
    assert "Did you mean 'sex'?" in refused(released, "crosstab", "out", "SEX")
    assert "Did you mean 'age'?" in refused(released, "describe", "out", "AGE")


@pytest.mark.parametrize(("to", "package"), [("to_pandas", "pandas"), ("to_arrow", "pyarrow")])
def test_a_package_that_is_missing_is_named(released, to, package, monkeypatch):
    table = pk.open_release("out").crosstab("sex")
    assert len(getattr(table, to)())
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == package else find(name, *more))
    with pytest.raises(pk.EnvironmentFailure, match=package):
        getattr(table, to)()


FORMATS = {"latex": ("tex", r"\begin{table}"), "html": ("html", "<!DOCTYPE html>"), "markdown": ("md", "**")}


@pytest.mark.parametrize("verb", VERBS)
def test_tables_for_papers(released, verb):
    for format, (ending, first) in FORMATS.items():
        code, out, err = released.run(*VERBS[verb], "--format", format, "--caption", "Mine & yours")
        assert code == 0, err
        assert first in out
        assert {"latex": r"Mine \& yours", "html": "Mine &amp; yours", "markdown": r"Mine \& yours"}[format] in out
        code, said, err = released.run(*VERBS[verb], "-o", f"t.{ending}", "--caption", "Mine & yours")
        assert (code, said) == (0, f"Written to t.{ending}.\n"), err
        assert Path(f"t.{ending}").read_text(encoding="utf-8") == out
    code, _, err = released.run(*VERBS[verb], "-o", "t.xlsx")
    assert code == 0, err
    assert pl.read_excel("t.xlsx", sheet_name="numbers").height
    assert "not text; name a file with -o" in refused(released, *VERBS[verb], "--format", "xlsx")
    assert "does not match the ending" in refused(released, *VERBS[verb], "--format", "latex", "-o", "t2.md")
    assert "add --format latex" in refused(released, *VERBS[verb], "--caption", "Mine")
    assert "--csv and --format exclude each other" in refused(released, *VERBS[verb], "--csv", "--format", "latex")
    readable = released.run(*VERBS[verb])[1]
    assert released.run(*VERBS[verb], "--format", "text")[1] == readable
    assert json.loads(released.run(*VERBS[verb], "--format", "json")[1])


def test_how_a_table_for_a_paper_is_set(released):
    table = pk.open_release("out").crosstab("sex", "education")
    for flags, options in [
        ((), {}),
        (("--show", "shares"), {"show": "shares"}),
        (("--given", "sex"), {"given": "sex"}),
        (("--layout", "long", "--interval"), {"layout": "long", "interval": True}),
        (("--level", "0.8", "--interval"), {"level": 0.8, "interval": True}),
    ]:
        code, out, err = released.run(*VERBS["crosstab"], "--format", "markdown", *flags)
        assert code == 0, err
        assert out == f"{table.to_markdown(**options)}\n"


def test_a_line_chart_and_a_pdf(released):
    code, _, err = released.run("crosstab", "out", "age", "--chart", "c.pdf", "--chart-kind", "line", "--csv")
    assert code == 0, err
    assert Path("c.pdf").read_bytes().startswith(b"%PDF")
    assert "'sex' has none" in refused(released, "crosstab", "out", "sex", "--chart", "d.pdf", "--kind", "line")


def test_a_table_that_cannot_be_read_says_so(released):
    names = ["sex", "age", "education"]
    opened = pk.open_release("out")
    assert opened.plan.readable([names], records=opened.rows).named[0].level == "not readable"
    for flags in ((), ("--csv",), ("--json",)):
        code, out, err = released.run("crosstab", "out", *names, *flags)
        assert code == 0
        assert "note: This table cannot be read: the plan predicts an error of " in err
        assert ("This table cannot be read" in out) == (flags == ("--json",))
    sql = "SELECT sex, age, education, COUNT(*) FROM release GROUP BY 1, 2, 3"
    assert (
        "note: The query needs the table sex x age x education, which cannot be read"
        in released.run("query", "out", sql)[2]
    )
    assert "cannot be read" in " ".join(json.loads(released.run("query", "out", sql, "--json")[1])["notes"])
    # a number that adds up many cells is not the table
    assert "cannot be read" not in released.run("query", "out", "SELECT sex, COUNT(*) FROM release GROUP BY sex")[2]


def test_the_caption_names_shares(released):
    code, out, _ = released.run("crosstab", "out", "sex", "education", "--given", "sex")
    assert code == 0
    assert "\nCounts, and shares within sex from 200 released rows; " in out


def test_the_command_line_knows_the_formats_that_results_have():
    """It has a list of its own, because asking theirs would load polars for every --help."""
    assert (destinations.FORMATS, destinations.PAPER) == (tabular.FORMATS, tabular.PAPER)


def test_associations_and_correlations_take_weights(released):
    code, out, err = released.run("association", "out", "sex", "education", "--weights", "age")
    assert code == 0, err
    assert "corrected chi-square" in out
    assert "mutual information" not in out
    assert "Weighted (by age" in out
    code, out, _ = released.run("association", "out", "sex", "education", "--weights", "age", "--json")
    found = pk.open_release("out").crosstab("sex", "education", weights="age").association()
    assert (code, json.loads(out)) == (0, found.to_json())
    assert found.to_json()["weights"] == "age"
    code, out, err = released.run("correlations", "out", "sex", "education", "--weights", "age", "--json")
    assert code == 0, err
    document = json.loads(out)
    assert (document["weighted"], document["weights"]) == (True, "age")
    assert document["pairs"][0]["value"] == found.cramers_v.value
    for verb in ("association", "correlations"):
        assert "'age' is the weight" in refused(released, verb, "out", "sex", "age", "--weights", "age")
        assert "must stand for numbers" in refused(released, verb, "out", "age", "education", "--weights", "sex")


def test_numbers_of_labels_come_from_a_file(released):
    labels = pk.open_release("out").crosstab("age").labels[0]
    given = {str(label): [10 * place, 10 * place + 10] for place, label in enumerate(labels) if label is not None}
    Path("numbers.json").write_text(json.dumps({"age": given}), encoding="utf-8")
    assert pk.read_values("numbers.json") == {"age": {label: tuple(map(float, ends)) for label, ends in given.items()}}
    code, out, err = released.run("regress", "out", "age ~ 1", "--values", "numbers.json", "--json")
    assert code == 0, err
    middles = {"age": {label: sum(ends) / 2 for label, ends in given.items()}}
    found = pk.open_release("out").regress("age ~ 1", values=middles)["Intercept"]
    assert json.loads(out)["coefficients"][0]["coefficient"] == pytest.approx(found.value)
    for wrong in ('{"age": 3}', '{"age": {"a": "b"}}', '{"age": {"a": [1]}}', '{"age": {"a": true}}', "[1]", "{"):
        Path("wrong.json").write_text(wrong, encoding="utf-8")
        code, _, err = released.run("regress", "out", "age ~ 1", "--values", "wrong.json")
        assert code == 2
        assert "wrong.json" in err
    assert released.run("regress", "out", "age ~ 1", "--values", "numbers.csv")[0] == 2
