"""pkanon plan: questions answered in words, and the tables that matter shown."""

import json

import pytest

SCHEMA = """
[attributes.sex]
values = ["F", "M"]

[attributes.age]
bins = { start = 0, stop = 90, width = 10 }
open = "high"

[attributes.education]
values = ["none", "school", "degree"]
"""


@pytest.fixture
def planned(place):
    """Standard output of ``pkanon plan`` on the schema above, or what it says when it refuses."""
    (place.folder / "people.toml").write_text(SCHEMA)

    def planned(*options, code=0):
        done, out, err = place.run("plan", "people.toml", *options)
        assert done == code
        return out if code == 0 else err

    return planned


def test_how_much_privacy_can_be_afforded(planned):
    out = planned("--records", "5000", "--table", "sex,age", "--error", "0.02")
    first, served, _, second, *_ = out.splitlines()
    assert first.startswith("With a standard error of at most 0.02 in sex x age (an average cell has 0.05), k = ")
    assert "made for just that" in served
    k = first.split("k = ")[1].split()[0]
    assert second.startswith(f"Plan for 5,000 records: k = {k}")
    assert "next to nobody" not in first


def test_a_k_that_hides_nobody_is_called_that(planned):
    out = planned("--records", "5000", "--table", "sex,age", "--error", "0.0034")
    assert "hides next to nobody" in out.splitlines()[0]


def test_how_many_people_are_needed(planned, place):
    out = planned("--k", "20", "--table", "sex,age", "--error", "0.02", "-o", "needed.json")
    needed = json.loads((place.folder / "needed.json").read_text())["records"]
    assert f"{needed:,} records are needed." in out.splitlines()[0]


def test_a_misspelt_table_is_blamed_on_the_table(planned):
    out = planned("--records", "5000", "--table", "sex,aeg", "--error", "0.02", code=2)
    assert "'aeg'" in out
    assert "Did you mean 'age'?" in out
    assert "workload" not in out


@pytest.mark.parametrize(
    ("workload", "shown", "hidden"),
    [
        ("sex,education; age", ["error: sex x education", "error: age"], ["error: sex x age"]),
        ("full", ["error: sex x age x education"], []),
        ("1", ["error: sex", "error: sex x age"], []),
    ],
)
def test_the_tables_of_the_workload_are_shown(planned, workload, shown, hidden):
    out = planned("--records", "5000", "--k", "20", "--workload", workload)
    lines = [line.strip() for line in out.splitlines()]
    for text in shown:
        assert any(line.startswith(text + " ") for line in lines)
    for text in hidden:
        assert not any(line.startswith(text + " ") for line in lines)


def test_the_floor_is_told(planned):
    assert "no table of up to 3 attributes is worse" in planned("--records", "5000", "--k", "20")
    free = planned("--records", "5000", "--k", "20", "--floor", "none")
    assert "Floor:" not in free


def test_nothing_is_said_of_the_floor_where_designs_have_different_budgets(planned):
    assert "Floor:" not in planned("--records", "5000", "--central-epsilon", "0.5")


@pytest.mark.parametrize("option", ["--workload", "--floor"])
def test_digits_nobody_types(planned, option):
    assert "²" in planned("--records", "5000", "--k", "20", option, "²", code=2)
