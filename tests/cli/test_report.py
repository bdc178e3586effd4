"""pkanon report and release --report: where files go, what is said, what is refused."""

import json

import pytest


@pytest.fixture
def released(place):
    assert place.release()[0] == 0
    return place


def test_a_report_goes_into_the_folder(released):
    code, out, err = released.run(
        "report", "out", "--organisation", "Office of Examples", "--contact", "data@example.org"
    )
    assert (code, out) == (0, "Written to out/report.html.\n")
    text = (released.folder / "out" / "report.html").read_text(encoding="utf-8")
    assert "Office of Examples" in text
    assert "data@example.org" in text
    code, out, err = released.run("report", "out")
    assert code == 2
    assert "never overwritten; delete it first, or name another file with -o" in err
    assert released.run("crosstab", "out", "sex")[0] == 0


def test_the_internal_edition_goes_beside_the_folder(released):
    code, out, err = released.run("report", "out", "--private", "people.csv")
    assert code == 0
    assert out == "Written to out-internal.html.\n"
    assert "do not publish" in err
    assert not (released.folder / "out" / "report.html").exists()
    code, out, err = released.run("report", "out", "--private", "people.csv", "-o", "out/internal.html")
    assert code == 2
    assert "inside a release folder" in err


def test_json(released):
    _, out, _ = released.run("report", "out", "-o", "page.html", "--json")
    assert json.loads(out) == {"report": "page.html", "edition": "external", "claims": True}


def test_a_void_release_is_reported_as_one(place):
    assert place.release("--seed", "7", "--seeded-not-private", "--report")[0] == 0
    text = (place.folder / "out" / "report.html").read_text(encoding="utf-8")
    assert "Do not publish as anonymous: this release claims nothing." in text
    code, _, err = place.run("report", "out", "-o", "again.html")
    assert code == 0
    assert "claims nothing" in err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["nothing"], "does not exist"),
        (["people.csv"], "is not a release"),
        (["out", "-o", "absent/report.html"], "its folder does not exist"),
        (["out", "--private", "absent.csv"], "absent.csv"),
        (["out", "--title", "x" * 400], "characters"),
    ],
)
def test_wrong_input(released, arguments, problem):
    code, _, err = released.run("report", *arguments)
    assert code == 2
    assert problem in err
    assert not list(released.folder.glob("*.html"))
    assert not list((released.folder / "out").glob("*.html"))


def test_values_of_people_are_not_quoted(released):
    (released.folder / "other.csv").write_text("patient,sex,age,education\nq1,MARKER,3,none\n")
    code, _, err = released.run("report", "out", "--private", "other.csv")
    assert code == 2
    assert "MARKER" not in err
