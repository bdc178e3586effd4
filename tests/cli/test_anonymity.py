"""pkanon anonymity: classical k, and how many rows have so few like them."""

import json

import pytest

TABLES = {
    "a": (["x", "x", "y", "z"], "k = 1: 2 of the 4 rows have a combination of a that no other row has.\n"),
    "b": (["x", "x", "x", "y"], "k = 1: 1 of the 4 rows has a combination of b that no other row has.\n"),
    "c": (
        ["x", "x", "y", "y"],
        "k = 2: no combination of c occurs in fewer than 2 rows; 2 combinations occur in just 2, together 4 of the 4 rows.\n",
    ),
    "d": (
        ["x", "x", "x", "x"],
        "k = 4: no combination of d occurs in fewer than 4 rows; 1 combination occurs in just 4, together 4 of the 4 rows.\n",
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_how_many_rows_are_in_the_smallest_groups(place, name):
    values, sentence = TABLES[name]
    place.write("table.csv", "\n".join([name, *values]) + "\n")
    assert place.run("anonymity", "table.csv", name) == (0, sentence, "")


def test_json(place):
    place.write("table.csv", "a,b\n1,2\n1,2\n3,4\n3,4\n5,6\n5,6\n5,6\n")
    code, out, _ = place.run("anonymity", "table.csv", "a", "b", "--json")
    assert code == 0
    assert json.loads(out) == {
        "k": 2,
        "columns": ["a", "b"],
        "smallest_groups": 2,
        "rows_in_smallest_groups": 4,
        "rows": 7,
    }


def test_rows_that_fall_short_and_sensitive_columns(place):
    place.write("table.csv", "a,b,s\n1,2,x\n1,2,y\n3,4,x\n3,4,x\n5,6,x\n5,6,y\n5,6,z\n")
    code, out, err = place.run("anonymity", "table.csv", "a", "b", "--k", "3", "--sensitive", "s")
    assert (code, err) == (0, "")
    assert "Short of k = 3: 4 of the 7 rows (57.1%)." in out
    (line,) = (line for line in out.splitlines() if line.startswith("  s "))
    assert line.split() == ["s", "1", "1", "0.4286", "1"]  # the class of x alone; 4 of 7 are x
    document = json.loads(place.run("anonymity", "table.csv", "a", "b", "--k", "3", "--sensitive", "s", "--json")[1])
    assert (document["asked"], document["rows_short_of_it"]) == (3, 4)
    assert document["sensitive"][0]["distinct_l"] == 1


def test_a_column_is_known_or_sensitive(place):
    code, out, err = place.run("anonymity", "people.csv", "sex", "--sensitive", "sex")
    assert (code, out) == (2, "")
    assert "known and as sensitive" in err
