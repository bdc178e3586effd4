"""A table and a plan in, a release out: what is refused, what is claimed, what comes back."""

import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import pkanon as pk

SCHEMA = pk.Schema(
    [
        pk.Attribute("person", role="id"),
        pk.Attribute("sex", ["F", "M"]),
        pk.Attribute.binned("age", start=0, stop=90, width=10, open="high"),
        pk.Attribute("edu", ["none", "school", "degree"], missing="value"),
        pk.Attribute("note", role="drop"),
    ],
    [pk.Bundle(["age", "edu"], [{"age": ["0-9"], "edu": ["degree"]}])],
)
ROWS = 500


def table(rows=ROWS):
    number = np.arange(rows)
    edu = np.array(["none", "school", "degree", None], object)[number % 4]
    edu[(number % 100 < 10) & (edu == "degree")] = "school"
    return pl.DataFrame(
        {
            "person": number,
            "sex": np.array(["F", "M"])[number % 2],
            "age": number % 100,
            "edu": edu,
            "note": ["x"] * rows,
        },
        schema_overrides={"edu": pl.String},
    )


@pytest.fixture(scope="module")
def plan():
    return pk.plan(SCHEMA, records=ROWS, k=5)


def test_a_release_has_the_shape_of_its_schema(plan):
    release = pk.release(table(), plan)
    assert release.rows == ROWS
    assert release.table.columns == ["sex", "age", "edu"]
    assert release.table.height == ROWS
    assert set(release.table["age"].unique()) <= {
        "0-9",
        "10-19",
        "20-29",
        "30-39",
        "40-49",
        "50-59",
        "60-69",
        "70-79",
        "80-89",
        "90+",
    }
    assert release.table["edu"].null_count() > 0  # a missing value is released as null, at random
    nonsense = release.table.filter((pl.col("age") == "0-9") & (pl.col("edu") == "degree"))
    assert nonsense.height == 0  # forbidden combinations never appear


@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow", "duckdb"])
def test_the_frame_that_comes_out_is_of_the_kind_that_went_in(plan, kind):
    frame = table()
    if kind == "duckdb":
        import duckdb

        arrow = frame.to_arrow()  # noqa: F841  # duckdb finds it by its name
        given = duckdb.sql("SELECT * FROM arrow ORDER BY person")
    else:
        given = {"polars": lambda: frame, "pandas": frame.to_pandas, "pyarrow": frame.to_arrow}[kind]()
    release = pk.release(given, plan, randomness=pk.Seeded(7))
    expected = pk.release(frame, plan, randomness=pk.Seeded(7)).table
    assert type(release.table).__module__.split(".")[0].lstrip("_") == kind
    back = release.table
    if kind == "duckdb":
        back = back.arrow()
        back = back.read_all() if hasattr(back, "read_all") else back
    got = back if kind == "polars" else pl.from_pandas(back) if kind == "pandas" else pl.from_arrow(back)
    assert got.cast(pl.String).equals(expected.cast(pl.String))


def test_equal_plan_and_seed_give_equal_rows(plan):
    first, second = (pk.release(table(), plan, randomness=pk.Seeded(7)).table for _ in range(2))
    assert first.equals(second)
    assert not first.equals(pk.release(table(), plan, randomness=pk.Seeded(8)).table)
    assert not pk.release(table(), plan).table.equals(pk.release(table(), plan).table)


def test_the_rows_are_shuffled():
    schema = pk.Schema([pk.Attribute.ranged("number", 0, 999)])
    keep = pk.Plan(schema, (pk.Retention(pk.Unit(("number",), (1000,)), 0),), 1000)  # keeps every value
    numbers = pk.release(pl.DataFrame({"number": range(1000)}), keep).table["number"].to_list()
    assert sorted(numbers) == list(range(1000))
    assert sum(i == number for i, number in enumerate(numbers)) < 20  # 1 fixed point is expected
    assert math.isinf(keep.epsilon)
    assert keep.k == 1


def test_the_certificate_states_what_holds(plan):
    certificate = pk.release(table(), plan).certificate
    assert certificate.claims
    assert certificate.k >= 5
    assert certificate.k == plan.k
    assert certificate.epsilon == plan.epsilon
    claims = certificate.to_json()["claims"]
    assert Fraction(claims["k"]) <= plan.k_for(ROWS)
    assert Fraction(claims["k_planned"]) <= plan.k_for(ROWS)
    assert float(claims["epsilon"]) >= plan.epsilon


def test_fewer_rows_lower_k(plan):
    few = table(300)
    with pytest.raises(pk.RefusedError, match="allow_fewer"):
        pk.release(few, plan)
    certificate = pk.release(few, plan, allow_fewer=True).certificate
    assert certificate.k == pytest.approx(float(plan.k_for(300)))
    assert certificate.k < 5
    assert any("the paper" in note.lower() for note in certificate.outside)


def test_more_rows_raise_k(plan):
    assert pk.release(table(1000), plan).certificate.k == pytest.approx(float(plan.k_for(1000)))


def test_passed_columns_void_the_claim():
    schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute("weight", type="number", role="pass")])
    plan = pk.plan(schema, records=100, k=3)
    frame = pl.DataFrame({"sex": ["F", "M"] * 50, "weight": np.arange(100) / 2})
    with pytest.raises(pk.RefusedError, match="allow_pass"):
        pk.release(frame, plan)
    release = pk.release(frame, plan, allow_pass=True)
    assert sorted(release.table["weight"]) == sorted(frame["weight"])
    assert not release.certificate.claims
    assert release.certificate.k is None
    assert float(release.certificate.without_passed["k"]) >= 3


def test_passed_columns_move_with_their_rows():
    schema = pk.Schema([pk.Attribute.ranged("number", 0, 99), pk.Attribute("twin", type="integer", role="pass")])
    keep = pk.Plan(schema, (pk.Retention(pk.Unit(("number",), (100,)), 0),), 100)
    frame = pl.DataFrame({"number": range(100), "twin": range(100)})
    released = pk.release(frame, keep, allow_pass=True).table
    assert released["number"].to_list() == released["twin"].to_list()


def test_a_drafted_schema_claims_nothing():
    drafted = pk.Schema([pk.Attribute("sex", ["F", "M"])], drafted=True)
    plan = pk.plan(drafted, records=100, k=3)
    assert "Nothing" in plan.explain()
    frame = pl.DataFrame({"sex": ["F", "M"] * 50})
    for action in (pk.release, pk.check):
        with pytest.raises(pk.RefusedError, match="drafted_not_protected"):
            action(frame, plan)
        action(frame, plan, drafted_not_protected=True)
    certificate = pk.release(frame, plan, drafted_not_protected=True).certificate
    assert certificate.k is None
    assert "confirmed" in " ".join(certificate.void)


def test_a_matrix_from_the_data_claims_nothing():
    schema = pk.Schema([pk.Attribute("sex", ["F", "M"])])
    plan = pk.plan(schema, records=100, matrices={"sex": pk.TransitionMatrix.invariant([70, 30], 0.5)})
    frame = pl.DataFrame({"sex": ["F"] * 70 + ["M"] * 30})
    with pytest.raises(pk.RefusedError, match="data_dependent"):
        pk.release(frame, plan)
    assert not pk.release(frame, plan, data_dependent=True).certificate.claims


def test_a_seeded_release_claims_nothing(plan):
    certificate = pk.release(table(), plan, randomness=pk.Seeded(1)).certificate
    assert certificate.k is None
    assert certificate.epsilon is None


class Heir(pk.System):
    """A fixed key under the name of the operating system's."""

    def key(self):
        return bytes(32)


class Alike:
    private = True

    def key(self):
        return bytes(32)


@pytest.mark.parametrize("randomness", [Heir(), Alike()], ids=["a subclass", "a look-alike"])
def test_only_the_operating_systems_own_key_is_certified(plan, randomness):
    first, second = (pk.release(table(), plan, randomness=randomness) for _ in range(2))
    assert first.table.equals(second.table)  # anybody can make it again
    assert not first.certificate.claims
    assert first.certificate.k is None
    assert pk.release(table(), plan, randomness=pk.System()).certificate.claims


class TestHiddenCount:
    schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute("size", ["S", "M", "L"])])
    frame = pl.DataFrame({"sex": ["F", "M"] * 50, "size": (["S", "M", "L", "L"] * 25)})

    def test_rows_are_really_dropped_and_added(self):
        plan = pk.plan(self.schema, records=50, epsilon=3, hide_count="9/10")
        counts = [pk.release(self.frame, plan).rows for _ in range(60)]
        assert min(counts) < 100 < max(counts)
        # the mean of |d| is 2p / (1 - p^2) = 9.47; 60 draws stay within 5 standard errors (sd of |d| < 10)
        assert abs(np.mean(np.abs(np.array(counts) - 100)) - 9.47) < 6.5

    def test_the_certificate_is_for_the_rows_released(self):
        plan = pk.plan(self.schema, records=50, epsilon=3, hide_count="9/10")
        release = pk.release(self.frame, plan)
        assert release.certificate.k == pytest.approx(float(plan.k_for(release.rows)))
        assert release.certificate.epsilon_unbounded <= 3
        assert release.certificate.epsilon < release.certificate.epsilon_unbounded

    def test_the_true_count_leaves_no_trace(self, tmp_path):
        plan = pk.plan(self.schema, records=50, epsilon=3, hide_count="9/10")
        release = pk.release(self.frame, plan)
        while release.rows == 100:
            release = pk.release(self.frame, plan)
        release.save(tmp_path / "out", format="both")
        for name in ("plan.json", "certificate.json", "datapackage.json"):
            text = (tmp_path / "out" / name).read_text()
            assert '"rows": 100' not in text
            assert " 100 " not in text

    def test_fewer_rows_than_the_public_bound_are_refused_without_a_number(self):
        plan = pk.plan(self.schema, records=101, epsilon=3, hide_count="9/10")
        with pytest.raises(pk.DataError) as caught:
            pk.release(self.frame, plan, allow_fewer=True)
        assert "100" not in str(caught.value)

    @pytest.mark.parametrize("format", ["parquet", "csv", "both"])
    def test_a_count_may_come_to_nothing_and_is_still_a_release(self, format, tmp_path):
        plan = pk.plan(self.schema, records=1, epsilon=3, hide_count="1/2")
        made = (pk.release(self.frame.head(1), plan) for _ in range(1000))  # one in five has no rows
        empty = next(release for release in made if release.rows == 0)
        empty.save(tmp_path / "out", format=format)
        opened = pk.open_release(tmp_path / "out")
        assert (opened.rows, opened.certificate.k) == (0, 1.0)
        assert opened.table.equals(empty.table)
        assert opened.table.schema == empty.table.schema
        assert opened.crosstab("sex").counts.tolist() == [0, 0]
        assert pk.compose([opened]).k == 1

    def test_a_public_count_does_not_come_to_nothing(self, tmp_path):
        plan = pk.plan(self.schema, records=100, k=2)
        pk.release(self.frame, plan).save(tmp_path / "out")
        file = tmp_path / "out" / "data.parquet"
        kept = {key: text for key, text in pl.read_parquet_metadata(file).items() if key.startswith("pkanon:")}
        pl.read_parquet(file).clear().write_parquet(tmp_path / "none.parquet", metadata=kept)
        with pytest.raises(pk.DataError, match="no rows"):
            pk.open_release(tmp_path / "none.parquet")

    def test_no_passed_columns(self):
        schema = pk.Schema([*self.schema.attributes, pk.Attribute("w", role="pass")])
        plan = pk.plan(schema, records=50, epsilon=3, hide_count=Fraction(1, 2))
        with pytest.raises(pk.PlanError, match="record count"):
            pk.release(self.frame.with_columns(w=pl.lit("x")), plan, allow_pass=True)


def test_check_says_what_release_would_say(plan):
    pk.check(table(), plan)
    with pytest.raises(pk.DataError):
        pk.check(table().with_columns(age=pl.lit(-1)), plan)
    with pytest.raises(pk.RefusedError):
        pk.check(table(300), plan)


def test_progress_rises_from_step_to_step(plan):
    seen = []
    pk.release(table(), plan, progress=lambda step, done: seen.append((step, done)))
    steps = list(dict.fromkeys(step for step, _ in seen))
    assert steps == ["reading", "randomising", "shuffling", "certifying"]
    for step in steps:
        shares = [done for name, done in seen if name == step]
        assert shares == sorted(shares)
        assert shares[-1] == 1.0


def test_classical_anonymity():
    frame = pl.DataFrame({"sex": ["F", "F", "F", "M", "M"], "age": [1, 1, 2, 2, 2]})
    assert pk.anonymity(frame, ["sex"]) == 2
    assert pk.anonymity(frame, ["sex", "age"]) == 1
    with pytest.raises(pk.InputError, match="sex"):
        pk.anonymity(frame, ["sx"])
    with pytest.raises(pk.InputError):
        pk.anonymity(frame, [])


def test_composition():
    plan = pk.plan(SCHEMA, records=ROWS, k=5)
    once, twice = pk.compose([plan]), pk.compose([plan, plan])
    assert once.k == plan.k
    assert twice.k == plan.k  # each redrawn and reshuffled
    assert twice.epsilon == pytest.approx(2 * plan.epsilon)
    linked = pk.compose([plan, plan], linked=True)
    assert linked.k == pytest.approx(float(1 + (ROWS - 1) * plan.anonymity_ratio**2))


def test_the_demo_table_fits_its_schema():
    frame = pk.demo_table()
    assert frame.height == 2_458_285
    assert [attribute.size for attribute in pk.demo_schema().randomised] == [2, 18, 12, 3, 3, 18, 20]
    assert frame.columns == list(pk.demo_schema().names)
    pk.check(frame, pk.plan(pk.demo_schema(), records=frame.height, k=2))
