"""The experiments of the paper on small tables: what is measured, that it can be repeated, and what is refused."""

import bz2
import gzip
import math

import polars as pl
import pytest

import pkanon as pk
from pkanon._audit import randomised
from pkanon._experiments.census import RAW, RAW_COLUMNS, RECODED, read_census
from pkanon._experiments.paper.measure import PRECISION, estimates, points, times
from pkanon._experiments.paper.statements import number, statements

ROWS = 24_583
FILES = {"points.csv", "index.html", *(f"figure{i}.{ending}" for i in (1, 2, 3) for ending in ("png", "svg"))}


@pytest.fixture(scope="module")
def people():
    return pk.demo_table().sample(ROWS, seed=5)


@pytest.fixture(scope="module")
def result(people, seed):
    return pk.experiments.reproduce(people, seed=seed, releases=8, quick=True)


class TestPoints:
    def test_the_paper(self):
        found = points(2_458_285, 7, quick=False)
        assert [p.setting.records for p in found if p.experiment == "records"] == [
            245,
            2_458,
            24_583,
            245_829,
            2_458_285,
        ]
        assert [p.setting.attributes for p in found if p.experiment == "attributes"] == [1, 2, 3, 4, 5, 6, 7]
        ks = [p.setting.k for p in found if p.experiment == "k"]
        assert ks == [2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000]

    def test_as_many_as_the_data_can_serve(self):
        found = points(50_000, 7, quick=False)
        assert [p.setting.records for p in found if p.experiment == "records"] == [245, 2_458, 24_583, 50_000]
        assert max(p.setting.k for p in found) == 10_000
        assert max(p.setting.k for p in points(2_000, 7, quick=False)) == 200


class TestNumbers:
    def test_k_and_epsilon_are_those_of_the_plans(self, result):
        schema = pk.demo_schema()
        frame = result.to_polars().filter(pl.col("method") == "inverse")
        for row in frame.unique(["records", "attributes", "k", "design"]).to_dicts():
            first = pk.Schema(list(schema.randomised[: row["attributes"]]))
            more = {"workload": "full", "floor": None} if row["design"] == "optimal" else {}
            plan = pk.plan(first, records=row["records"], k=row["k"], design=row["design"], **more)
            assert plan.k >= row["k"]
            assert row["epsilon"] == plan.epsilon
            assert row["predicted_l1"] == plan.predict(*first.names).l1
            # Theorem 2 for value-symmetric plans: e^(2 epsilon) = (n - 1)/(k - 1), within the rounding of plans
            exact = math.log((row["records"] - 1) / (row["k"] - 1)) / 2
            assert exact - 1e-3 <= row["epsilon"] <= exact

    def test_the_unbiased_error_is_as_predicted(self, result):
        frame = result.to_polars().filter((pl.col("records") == ROWS) & (pl.col("method") == "inverse"))
        judged = frame.filter((pl.col("design") == "equal-rho") & (pl.col("cells") <= ROWS))
        assert set(judged["cells"]) == {2, 36, 1_296}
        # two cells: the mean varies by PRECISION = 2.5%, so that 1.05 is two standard errors away
        assert judged["ratio"].is_between(0.85, 1.05).all(), judged["ratio"].to_list()

    def test_the_mean_of_every_error_is_precise(self, result):
        """The measured spread agrees with what the number of releases was chosen by."""
        frame = result.to_polars().filter((pl.col("method") == "inverse") & (pl.col("records") == ROWS))
        assert frame.filter(pl.col("cells") == 2)["releases"].unique().to_list() == [8 * times(2)]
        relative = frame["l1_sd"] / frame["l1"] / frame["releases"].sqrt()
        # the spread of 8 releases is itself known to a quarter; so few belong to tables of 1,296 cells, 0.7% by formula
        assert relative.max() <= 1.2 * PRECISION, relative.to_list()

    @pytest.mark.parametrize("design", ["equal-rho", "optimal", "joint"])
    def test_rows_are_those_of_a_release(self, people, design):
        """The same rows in another order, hence the same tables by every method."""
        small = people.head(500).select(people.columns[:3])
        plan = pk.plan(pk.Schema(list(pk.demo_schema().randomised[:3])), records=500, k=5, design=design)
        released = pk.release(small, plan, randomness=pk.Seeded(3))
        codes = randomised(plan, {name: small[name].to_physical().to_numpy() for name in small.columns}, pk.Seeded(3))
        in_order = zip(*(codes[name].tolist() for name in small.columns))
        shuffled = zip(*(released.codes[name].tolist() for name in small.columns))
        assert sorted(in_order) == sorted(shuffled)
        for method, counts in estimates(plan, codes, ["inverse", "simplex", "em"]).items():
            assert (counts == released.crosstab(*small.columns, method=method).counts).all()

    def test_few_cells_are_released_more_often(self):
        # (pi/2 - 1) / (V - 1) / 0.025^2 releases: 913.3 for 2 cells, 26.1 for 36, 2.1 for 432; in eights
        assert [times(cells) for cells in (2, 36, 432, 1_399_680)] == [115, 4, 1, 1]

    def test_every_point_has_every_design_and_method(self, result):
        frame = result.to_polars()
        model = pl.col("method") == "model"
        assert set(frame.filter(~model).group_by("experiment", "records", "attributes", "k").len()["len"]) == {6}
        places = frame.filter(pl.col("attributes") > 1).select("experiment", "records", "attributes", "k").unique()
        assert (
            frame.filter(model).height == places.height
        )  # of the paper's design, where a model has two attributes or more
        assert set(frame.filter(model)["design"]) == {"equal-rho"}
        assert set(frame.filter(model)["releases"]) == {1}
        absent = frame.filter(pl.col("l1").is_null())
        assert set(absent["method"]) == {"em"}
        assert absent["cells"].min() > 25_000
        assert absent["note"].str.contains("left out").all()
        assert frame.filter(pl.col("design") == "optimal")["note"].str.contains('workload "full"', literal=True).all()

    def test_one_point_of_two_experiments_is_measured_once(self, result):
        frame = result.to_polars().filter(
            (pl.col("records") == ROWS) & (pl.col("attributes") == 4) & (pl.col("k") == 2)
        )
        by_experiment = [part.drop("experiment") for _, part in sorted(frame.group_by("experiment"))]
        assert len(by_experiment) == 3
        assert all(part.equals(by_experiment[0]) for part in by_experiment)

    def test_equal_seeds_give_equal_numbers(self, people):
        small = people.head(500)
        one, same, other = (
            pk.experiments.reproduce(small, seed=seed, releases=1, quick=True).to_polars() for seed in (3, 3, 4)
        )
        assert one.equals(same)
        assert not one["l1"].equals(other["l1"])
        assert one.filter(pl.col("releases") == 1)["l1_sd"].is_null().all()  # one release has no spread


class TestStatements:
    def test_verdicts_follow_from_the_numbers(self, result):
        verdicts = {(s.figure, s.text.split()[0], s.text.split()[-1]): s.holds for s in result.statements}
        assert verdicts[1, "Errors", "increases."]
        assert verdicts[1, "Epsilon", "k."]
        assert verdicts[1, "There", "used."] is None  # the paper says it of 2,458,285 records
        assert not verdicts[2, "However,", "small."]

    def test_a_change_of_the_numbers_changes_them(self, result):
        frame = result.to_polars()
        turned = frame.with_columns(l1=1 / pl.col("l1"), epsilon=-pl.col("epsilon"), rho=-pl.col("rho"))
        before, after = statements(frame), statements(turned)
        for i in (0, 3, 4, 5, 8, 10):  # all that say "more" or "less"
            assert before[i].holds, before[i]
            assert not after[i].holds, after[i]
        assert not statements(frame.with_columns(ratio=2 * pl.col("ratio")))[-1].holds

    def test_tables_with_more_cells_than_records_are_named_and_not_judged(self, result):
        frame = result.to_polars()
        sparse = pl.col("cells") > pl.col("records")
        assert frame.filter(sparse & (pl.col("records") == ROWS)).height == 7
        changed = statements(
            frame.with_columns(ratio=pl.when(sparse).then(pl.col("ratio") * 0 + 0.1).otherwise("ratio"))
        )
        assert changed[-1].holds
        assert changed[-1].numbers.endswith("With more cells than records: 0.10.")
        dense = frame.with_columns(ratio=pl.when(sparse).then("ratio").otherwise(pl.col("ratio") * 0 + 0.1))
        assert not statements(dense)[-1].holds

    def test_a_small_increment_without_room_to_grow_says_so(self, result):
        frame = result.to_polars()
        numbers = [s.numbers for s in statements(frame) if (s.figure, s.text.split()[0]) == (3, "However,")]
        assert "little room to grow" in numbers[0]  # the least error is 0.9 of at most 2 already at k = 2
        less = statements(frame.with_columns(l1=pl.col("l1") / 100))
        assert not any("room to grow" in s.numbers for s in less)

    @pytest.mark.parametrize(
        ("value", "text"), [(0.08641, "0.0864"), (4798.3, "4,800"), (2.0, "2"), (2.85e-5, "2.85e-05"), (0.0, "0")]
    )
    def test_numbers_are_readable(self, value, text):
        assert number(value) == text


class TestFolder:
    def test_complete(self, result, tmp_path):
        result.save(tmp_path / "out")
        assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
        assert list(tmp_path.iterdir()) == [tmp_path / "out"]
        points = pl.read_csv(tmp_path / "out" / "points.csv")
        assert points.columns == result.to_polars().columns
        for name in ("l1", "l1_sd", "epsilon", "predicted_l1"):
            assert points[name].equals(result.to_polars()[name])
        page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
        assert page.count("<svg") == 3
        assert result.source in page
        assert "nothing here claims or gives privacy" in page
        assert not any(mark in page for mark in ("<script", "<link", "<img", "src=", "@import"))
        ids = [part.partition('"')[0] for part in page.split(' id="')[1:]]
        assert len(ids) == len(set(ids))
        for i in (1, 2, 3):
            assert result.source in (tmp_path / "out" / f"figure{i}.svg").read_text(encoding="utf-8")

    def test_or_absent(self, result, tmp_path, monkeypatch):
        def fail(*_, **__):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("pkanon._experiments.paper.folder.html_page", fail)
        with pytest.raises(pk.EnvironmentFailure, match="No space left"):
            result.save(tmp_path / "out")
        assert list(tmp_path.iterdir()) == []

    def test_nothing_is_overwritten_and_nothing_computed_first(self, people, tmp_path):
        (tmp_path / "out").mkdir()
        steps = []
        with pytest.raises(pk.InputError, match="exists already"):
            pk.experiments.reproduce(people, folder=tmp_path / "out", progress=lambda *step: steps.append(step))
        assert steps == []

    def test_unknown_figures_are_refused(self, result):
        with pytest.raises(pk.InputError, match="records, attributes, k"):
            result.chart("age")


# SEX, AGE, RPINCOME, WORK89, WORKLWK, YEARSCH, TRAVTIME and the seven codes by hand
PEOPLE = [
    ((0, 0, 0, 0, 0, 0, 0), (0, 0, 1, 0, 0, 0, 0)),
    ((1, 4, -1, 1, 2, 3, 4), (1, 0, 0, 1, 2, 3, 0)),
    ((1, 5, 1, 2, 1, 17, 5), (1, 1, 2, 2, 1, 17, 1)),
    ((0, 84, 9_999, 1, 1, 10, 94), (0, 16, 2, 1, 1, 10, 18)),
    ((0, 85, 10_000, 1, 1, 10, 95), (0, 17, 3, 1, 1, 10, 19)),
    ((0, 90, 89_999, 1, 1, 10, 99), (0, 17, 10, 1, 1, 10, 19)),
    ((1, 39, 90_000, 1, 1, 14, 20), (1, 7, 11, 1, 1, 14, 4)),
    ((1, 39, 401_234, 1, 1, 14, 20), (1, 7, 11, 1, 1, 14, 4)),
]
TIMES = 70


def raw_lines():
    """The UCI file: 125 columns, tabs, no header; other columns hold a letter."""
    lines = []
    for values, _ in PEOPLE * TIMES:
        line = ["P"] * RAW_COLUMNS
        for place, value in zip(RAW.values(), values):
            line[place] = str(value)
        lines.append("\t".join(line))
    return "\n".join(lines) + "\n"


def raw_csv(changed=None):
    lines = [",".join(["", *RAW, "SERIALNO"])]
    for i, (values, _) in enumerate(PEOPLE * TIMES):
        row = dict(zip(RAW, values)) | (changed if changed and i == 3 else {})
        lines.append(",".join(map(str, [i, *row.values(), "7"])))
    return "\n".join(lines) + "\n"


def recoded_csv(counts=False):
    rows = PEOPLE if counts else PEOPLE * TIMES
    head = [*RECODED, "count"] if counts else [*RECODED, "PWGT1"]
    return "\n".join([",".join(head), *(",".join(map(str, (*codes, TIMES))) for _, codes in rows)]) + "\n"


def codes_of(path):
    table = read_census(path).table
    return sorted(zip(*(table[name].to_physical().to_list() for name in table.columns)))


class TestData:
    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("USCensus1990raw.data.txt", raw_lines().encode()),
            ("raw.csv.bz2", bz2.compress(raw_csv().encode())),
            ("raw.csv", raw_csv().replace("\n", "\r\n").encode()),
            ("recoded.csv.gz", gzip.compress(recoded_csv().encode())),
            ("recoded.csv", recoded_csv().encode()),
            ("counts.csv", recoded_csv(counts=True).encode()),
        ],
    )
    def test_every_shape_gives_the_same_rows(self, tmp_path, name, content):
        (tmp_path / name).write_bytes(content)
        assert codes_of(tmp_path / name) == sorted(codes for _, codes in PEOPLE * TIMES)
        assert name in read_census(tmp_path / name).source

    def test_labels_and_frames(self, people, tmp_path):
        small = people.head(600)
        small.write_csv(tmp_path / "labels.csv")
        small.write_parquet(tmp_path / "labels.parquet")
        for data in (tmp_path / "labels.csv", tmp_path / "labels.parquet", small, small.to_pandas()):
            assert read_census(data).table.equals(small)

    def test_the_embedded_table_says_that_it_is_synthetic(self):
        census = read_census(None)
        assert census.synthetic
        assert "synthetic" in census.source

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"a,b\n1,2\n", "not one of the files"),
            (b"", "cannot be read"),
            (b"\x1f\x8bxx", "cannot be read"),
            (b"BZhnonsense", "cannot be read"),
            (b"\x89PNG\xff\xfe\n", "cannot be read"),
            (raw_csv({"AGE": 4711}).encode(), "Column 'AGE' must lie between 0 and 90; 1 rows"),
            (raw_csv({"SEX": "4711x"}).encode(), "Column 'SEX' has values that are no whole numbers"),
            (raw_csv({"TRAVTIME": ""}).encode(), "Column 'TRAVTIME' has values that are no whole numbers"),
            (recoded_csv().replace("1,7,11,", "1,18,11,").encode(), "Column 'age18' must lie between 0 and 17; 140 rows"),
            ("\n".join(raw_csv().split("\n")[:100]).encode(), "at least 500 rows"),
        ],
    )  # fmt: skip
    def test_what_does_not_fit_is_refused_without_its_values(self, tmp_path, content, words):
        (tmp_path / "data.csv").write_bytes(content)
        with pytest.raises(pk.InputError) as caught:
            pk.experiments.reproduce(tmp_path / "data.csv", folder=tmp_path / "out")
        assert words in str(caught.value)
        assert "4711" not in str(caught.value)
        assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]

    def test_an_absent_file(self, tmp_path):
        with pytest.raises(pk.InputError, match="does not exist"):
            pk.experiments.reproduce(tmp_path / "none.csv")

    @pytest.mark.parametrize("wrong", [{"seed": -1}, {"seed": 1.5}, {"releases": 0}, {"releases": True}])
    def test_wrong_arguments(self, people, wrong):
        with pytest.raises(pk.InputError):
            pk.experiments.reproduce(people, **wrong)
