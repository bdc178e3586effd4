"""pkanon model: rows drawn from a model of a release, from the command line."""

import json

import polars as pl


def test_rows_are_written_and_marked(place):
    place.release()
    code, out, err = place.run("model", "out", "-o", "rows.csv", "--rows", "50", "--seed", "3")
    assert (code, out) == (0, "Drew 50 modelled rows to rows.csv.\n")
    assert err == "note: the rows are modelled: take tables from them, but no standard errors and no coefficients.\n"
    table = pl.read_csv(place.folder / "rows.csv")
    assert (table.height, table.columns) == (50, ["sex", "age", "education"])
    assert table.filter((pl.col("age") == "0-9") & (pl.col("education") == "degree")).is_empty()
    assert "modelled" in (place.folder / "rows.csv-metadata.json").read_text(encoding="utf-8")
    place.run("model", "out", "-o", "again.csv", "--rows", "50", "--seed", "3")
    assert (place.folder / "again.csv").read_bytes() == (place.folder / "rows.csv").read_bytes()


def test_several_draws_and_json(place):
    place.release()
    code, out, _ = place.run("model", "out", "-o", "rows.parquet", "--draws", "2", "--json")
    said = json.loads(out)
    assert code == 0
    assert {key: said[key] for key in ("file", "rows", "draws", "seed", "renamed", "void")} == {
        "file": "rows.parquet", "rows": 200, "draws": 2, "seed": None, "renamed": {}, "void": [],
    }  # fmt: skip
    assert "computed from that release and nothing else" in said["sentences"][1]
    assert {"classes", "ridges", "independent", "starts", "steps", "converged", "misfit", "explained"} <= set(
        said["model"]
    )
    assert pl.read_parquet(place.folder / "rows.parquet")["draw"].to_list() == [1] * 200 + [2] * 200


def test_a_release_that_claims_nothing_says_so(place):
    place.release("--seed", "7", "--seeded-not-private")
    _, _, err = place.run("model", "out", "-o", "rows.dta", "--rows", "20")
    assert "warning: this release claims nothing: The key was not the operating system's own" in err


def test_refused(place):
    place.release()
    place.write("there.csv", "mine")
    for arguments, sentence in (
        (["out", "-o", "rows.docx"], "unknown ending"),
        (["out", "-o", "there.csv"], "exists already and is never overwritten"),
        (["out", "-o", "nowhere/rows.sav"], "its folder does not exist"),
        (["people.csv", "-o", "rows.sav"], "is not a release"),
        (["out", "-o", "rows.csv", "--rows", "0"], "--rows"),
        (["out", "-o", "rows.csv", "--rows", "10,000"], "Write 10000."),
        (["out", "-o", "rows.csv", "--draws", "1000"], "--draws"),
        (["out", "-o", "rows.csv", "--seed", "-1"], "--seed"),
        (["out"], "-o"),
    ):
        code, out, err = place.run("model", *arguments)
        assert (code, out, err.count("\n")) == (2, "", 1), arguments
        assert sentence in err
    assert not (place.folder / "rows.csv").exists()


def test_too_few_rows_or_columns(place):
    place.lines(*(f"p{i},F,{20 + i},school" for i in range(50)))
    place.run("plan", "people.toml", "--records", "50", "--k", "2", "--ks", "none", "-o", "few.json")
    place.run("release", "people.csv", "--plan", "few.json", "-o", "few")
    code, out, err = place.run("model", "few", "-o", "rows.csv")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "needs at least 100 released rows" in err
    place.write("one.toml", 'confirmed_by = "me"\nrow_is = "one patient"\n[attributes.sex]\nvalues = ["F", "M"]\n')
    place.write("one.csv", "sex\n" + "F\nM\n" * 100)
    place.run("plan", "one.toml", "--records", "200", "--k", "2", "--ks", "none", "-o", "one.json")
    place.run("release", "one.csv", "--plan", "one.json", "-o", "one")
    code, out, err = place.run("model", "one", "-o", "rows.csv")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "this release has only one" in err
    assert not (place.folder / "rows.csv-metadata.json").exists()
