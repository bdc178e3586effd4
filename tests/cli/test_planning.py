"""pkanon plan and pkanon plan-for-error: questions answered in words, and the tables that matter shown."""

import json

import pytest

import pkanon as pk

SCHEMA = """
[attributes.sex]
values = ["F", "M"]

[attributes.age]
bins = { start = 0, stop = 90, width = 10 }
open = "high"

[attributes.education]
values = ["none", "school", "degree"]
"""


def runner(place, verb):
    """Standard output of a verb on the schema above, or what it says when it refuses."""
    (place.folder / "people.toml").write_text(SCHEMA)

    def planned(*options, code=0):
        done, out, err = place.run(verb, "people.toml", *options)
        assert done == code, err
        if code:
            assert out == ""
            assert err.count("\n") == 1
        return err if code else out

    return planned


@pytest.fixture
def planned(place):
    return runner(place, "plan")


@pytest.fixture
def searched(place):
    return runner(place, "plan-for-error")


def test_how_much_privacy_can_be_afforded(searched):
    out = searched("--records", "5000", "--table", "sex,age", "--error", "0.02")
    first, served, _, second, *_ = out.splitlines()
    assert first.startswith("With a standard error of at most 0.02 in sex x age (an average cell has 0.05), k = ")
    assert "serves these tables only" in served
    k = first.split("k = ")[1].split()[0]
    assert second.startswith(f"Plan for 5,000 records: k = {k}")
    assert "hardly anybody" not in first


def test_a_k_that_protects_nobody_is_called_that(searched):
    out = searched("--records", "5000", "--table", "sex,age", "--error", "0.0034")
    assert "protects hardly anybody" in out.splitlines()[0]


def test_how_many_people_are_needed(searched, place):
    out = searched("--k", "20", "--table", "sex,age", "--error", "0.02", "-o", "needed.json")
    needed = json.loads((place.folder / "needed.json").read_text())["records"]
    assert f"{needed:,} records are needed." in out.splitlines()[0]
    assert out.splitlines()[-1] == "Written to needed.json."


def test_the_search_as_json(searched):
    found = json.loads(searched("--k", "20", "--table", "sex,age", "--error", "0.02", "--json"))
    assert (found["chosen"], found["error"]) == ("optimal", 0.02)
    assert found["records"] > 20
    (prediction,) = found["optimal"]["predictions"]
    assert prediction["attributes"] == ["sex", "age"]
    assert prediction["standard_error"] <= 0.02


def test_a_workload_is_said_only_where_it_was_chosen_for_the_table(searched):
    options = ("--k", "20", "--table", "sex,age", "--error", "0.02")
    assert "serves these tables only" not in searched(*options, "--workload", "2")
    assert "serves these tables only" not in searched(*options, "--design", "equal-rho")


def test_a_misspelt_table_is_blamed_on_the_table(searched):
    out = searched("--records", "5000", "--table", "sex,aeg", "--error", "0.02", code=2)
    assert "'aeg'" in out
    assert "Did you mean 'age'?" in out
    assert "workload" not in out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--records", "5000", "--error", "0.02"], "--table"),
        (["--records", "5000", "--table", "sex"], "--error"),
        (["--table", "sex", "--error", "0.02"], "either --records"),
        (["--table", "sex", "--error", "0.02", "--records", "5000", "--k", "20"], "either --records"),
        (["--table", "sex", "--error", "0.02", "--records", "5000", "--central-epsilon", "1"], "no option"),
        (["--table", "sex", "--error", "2", "--records", "5000"], "such as 0.02"),
    ],
)
def test_what_cannot_be_searched_for(searched, options, words):
    assert words in searched(*options, code=2)


def test_the_search_is_asked_of_its_own_verb(planned):
    err = planned("--records", "5000", "--table", "sex,age", "--error", "0.02", code=2)
    assert "pkanon plan-for-error" in err


def test_a_plan_needs_the_number_of_records(planned):
    err = planned("--k", "20", code=2)
    assert "--records N" in err
    assert "plan-for-error" in err


@pytest.mark.parametrize("file", ["plan.json", "out"])
def test_what_is_planned_already_is_explained_by_another_verb(place, file):
    (place.folder / "out").mkdir()
    code, out, err = place.run("plan", file)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "pkanon explain" in err


def test_a_chart_of_what_privacy_costs(planned, place):
    options = ("--records", "300", "--k", "20", "--design", "equal-rho", "--table", "sex", "--ks", "none")
    planned(*options, "--tradeoff-chart", "costs.json")
    drawn = (place.folder / "costs.json").read_text()
    assert "$schema" in drawn
    assert all(design in drawn for design in ("optimal", "equal-rho", "equal-epsilon", "joint"))


def test_a_heat_map_of_all_pairs(planned, place):
    planned("--records", "300", "--k", "20", "--design", "equal-rho", "--ks", "none", "--chart", "pairs.json")
    drawn = json.loads((place.folder / "pairs.json").read_text())
    (squares,) = drawn["datasets"].values()
    assert {(row["first"], row["second"]) for row in squares} == {
        ("sex", "sex"), ("age", "age"), ("education", "education"),
        ("sex", "age"), ("sex", "education"), ("age", "education"),
    }  # fmt: skip


@pytest.mark.parametrize("option", ["--chart", "--tradeoff-chart"])
@pytest.mark.parametrize("chart", ["people.toml", "costs.gif", "none/costs.svg"])
def test_a_chart_that_cannot_be_written_is_refused_before_it_is_drawn(planned, place, chart, option, monkeypatch):
    for name in ("tradeoff", "readability_chart", "plan"):
        monkeypatch.setattr(pk, name, lambda *_, **__: pytest.fail("too late"))
    before = place.names()
    assert chart in planned("--records", "300", "--k", "20", option, chart, "-o", "new.json", code=2)
    assert place.names() == before


def test_the_first_lines_say_which_tables_can_be_read(planned):
    options = ("--records", "5000", "--k", "20", "--table", "sex,age,education", "--ks", "none")
    title, _, summary, header, one, two, three, named, best, worst, model, meaning, *_ = planned(*options).splitlines()
    assert title.startswith("Plan for 5,000 records: k = 20")
    readable = pk.plan(pk.read_schema("people.toml"), records=5_000, k=20).readable([("sex", "age", "education")])
    assert summary == readable.summary
    assert header.split() == ["tables", "good", "fair", "poor", "not", "readable"]
    for line, label, found in (
        (one, "one attribute", readable.counts(1)),
        (two, "two attributes", readable.counts(2)),
        (three, "three attributes", readable.counts(3)),
        (named, "named", readable.counts(3)),
    ):
        assert line.strip().startswith(label)
        assert [int(cell) for cell in line.removeprefix(f"  {label}").split()] == [sum(found.values()), *found.values()]
    assert best.startswith(f"  best: {readable.best.name} (error ")
    assert worst.startswith(f"  worst: {readable.worst.name} (error ")
    assert model.startswith("  poor or unreadable pairs, by method 'model', usually (not promised): ")
    assert "good if its error is below 0.1" in meaning


def test_several_k_side_by_side(planned):
    out = planned("--records", "5000", "--k", "7").splitlines()
    start = out.index("Which k:") + 3
    rows = [line.split() for line in out[start : start + 6]]
    assert [row[:2] if row[0] == "*" else row[:1] for row in rows] == [
        ["2"],
        ["5"],
        ["*", "7"],
        ["20"],
        ["100"],
        ["1000"],
    ]
    epsilons = [float(row[-6]) for row in rows]
    assert epsilons == sorted(epsilons, reverse=True)
    assert "Which k:" not in planned("--records", "5000", "--k", "7", "--ks", "none")


def test_the_k_to_compare_can_be_chosen(planned):
    found = json.loads(planned("--records", "5000", "--epsilon", "3", "--ks", "3, 50,9000", "--json"))
    assert [round(choice["k"]) for choice in found["choices"] if not choice["chosen"]] == [3, 50]
    (chosen,) = [choice for choice in found["choices"] if choice["chosen"]]
    assert chosen["epsilon"] == found["optimal"]["epsilon"]
    assert found["readable"]["counts"].keys() == {"1", "2"}
    assert "k = x is not a number" in planned("--records", "5000", "--k", "7", "--ks", "2,x", code=2)


def test_of_a_draft_other_k_are_shown_as_if_it_were_confirmed(planned, place):
    (place.folder / "people.toml").write_text('domains = "drafted"\n' + SCHEMA)
    out = planned("--records", "5000", "--k", "20", "--ks", "5")
    assert "void, it promises nothing as it stands" in out.splitlines()[0]
    assert "Other k, if nothing made the plan void:" in out


def test_a_plan_says_what_to_do_where_little_can_be_read(planned):
    assert "pkanon advise" not in planned("--records", "5000", "--k", "20", "--ks", "none")
    assert "pkanon advise" in planned("--records", "200", "--k", "20", "--ks", "none")


@pytest.mark.parametrize(
    ("workload", "shown", "hidden"),
    [
        ("sex,education; age", ["error: sex x education", "error: age"], ["error: sex x age"]),
        ("full", ["error: sex x age x education"], []),
        ("1", ["error: sex", "error: sex x age"], []),
    ],
)
def test_the_tables_of_the_workload_are_shown(planned, workload, shown, hidden):
    out = planned("--records", "5000", "--k", "20", "--workload", workload, "--ks", "none")
    lines = [line.strip() for line in out.splitlines()]
    for text in shown:
        assert any(line.startswith(text + " ") for line in lines)
    for text in hidden:
        assert not any(line.startswith(text + " ") for line in lines)


def test_the_floor_is_told(planned):
    assert "no table of up to 3 attributes is worse" in planned("--records", "5000", "--k", "20", "--ks", "none")
    free = planned("--records", "5000", "--k", "20", "--floor", "none", "--ks", "none")
    assert "Floor:" not in free


def test_nothing_is_said_of_the_floor_where_designs_have_different_budgets(planned):
    assert "Floor:" not in planned("--records", "5000", "--central-epsilon", "0.5", "--ks", "none")


@pytest.mark.parametrize("option", ["--workload", "--floor"])
def test_digits_nobody_types(planned, option):
    assert "²" in planned("--records", "5000", "--k", "20", option, "²", code=2)


def test_releases_are_composed_with_the_rows_that_they_have(place):
    alone = place.run("compose", "plan.json", "plan.json", "--json")
    assert place.release()[0] == 0
    assert place.run("compose", "out", "plan.json", "--json") == alone
    assert place.run("compose", "out/data.parquet", "out", "--json") == alone
    arguments = ("release", "people.csv", "--schema", "people.toml", "--k", "3")
    assert place.run(*arguments, "--records", "400", "--allow-fewer", "-o", "fewer")[0] == 0
    certified = json.loads((place.folder / "fewer" / "certificate.json").read_text())
    composed = json.loads(place.run("compose", "fewer", "--json")[1])
    assert composed["k"] == pytest.approx(float(certified["claims"]["k"]), abs=1e-6)  # the certificate has six digits
    assert composed["k"] < 2.1  # 3 were planned, for twice as many rows


def test_joined_releases_of_different_people_hide_nobody(place):
    lines = (place.folder / "people.csv").read_text().splitlines(keepends=True)
    (place.folder / "but_one.csv").write_text("".join(lines[:-1]))
    assert place.release()[0] == 0
    arguments = ("release", "but_one.csv", "--plan", "plan.json", "--allow-fewer", "-o", "but_one")
    assert place.run(*arguments)[0] == 0
    code, out, _ = place.run("compose", "out", "but_one", "--linked")
    assert (code, "rows can be joined: k = 1, epsilon = " in out, "a row without a partner" in out) == (0, True, True)
    assert json.loads(place.run("compose", "out", "but_one", "--linked", "--json")[1])["uneven"] is True
    assert "partner" not in place.run("compose", "out", "but_one")[1]


def test_a_seeded_release_voids_what_is_composed_with_it(place):
    assert place.release("--seed", "7", "--seeded-not-private")[0] == 0
    code, out, _ = place.run("compose", "plan.json", "out")
    assert code == 0
    assert "nothing can be claimed. The key was not the operating system's own" in out


def test_hidden_counts_are_composed_too(place):
    arguments = ("people.toml", "--records", "150", "--epsilon", "10", "--hide-count", "1/1000", "-o", "hidden.json")
    assert place.run("plan", *arguments)[0] == 0
    code, out, _ = place.run("compose", "hidden.json", "hidden.json")
    assert code == 0
    assert out.splitlines()[1] == "Whether a person is in the table at all: epsilon = 20."
    total = json.loads(place.run("compose", "hidden.json", "hidden.json", "--json")[1])
    assert 19.99 < total["epsilon_unbounded"] <= 20
    assert json.loads(place.run("compose", "hidden.json", "plan.json", "--json")[1])["epsilon_unbounded"] is None


def test_a_release_that_can_hardly_be_read_warns_once_and_is_made(place):
    arguments = ("people.csv", "--schema", "people.toml", "--k", "150")
    for more in (["-o", "out"], ["--check"]):
        code, _, err = place.run("release", *arguments, *more)
        assert code == 0, err
        assert err.count("ReadabilityWarning") == 0
        (line,) = [line for line in err.splitlines() if line.startswith("warning:")]
        assert "cannot be read" in line
        assert "pkanon advise" in line
    assert (place.folder / "out" / "predicted.csv").is_file()


def test_a_release_is_explained_with_the_tables_that_can_be_read(place):
    assert place.release()[0] == 0
    code, out, err = place.run("explain", "out", "--table", "sex,age,education")
    assert code == 0, err
    readable = pk.open_release("out").plan.readable([("sex", "age", "education")])
    assert str(readable) in out
    code, out, _ = place.run("explain", "out", "--json")
    assert json.loads(out)["readable"] == pk.open_release("out").plan.readable().to_json()


def test_a_release_that_can_be_read_does_not_warn(place):
    code, _, err = place.run("release", "people.csv", "--schema", "people.toml", "--epsilon", "9", "-o", "out")
    assert code == 0, err
    assert "cannot be read" not in err
