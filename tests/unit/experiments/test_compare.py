"""pk.experiments.compare on small tables: what is measured, that it can be repeated, what is said about it, and what is refused."""

import json

import numpy as np
import polars as pl
import pytest

import pkanon as pk
from pkanon._audit.attacks.combinations import Combinations
from pkanon._audit.attacks.linkage import Linkage, agreement_chances
from pkanon._experiments.comparison.findings import findings
from pkanon._experiments.comparison.mondrian import mondrian

ROWS = 3_000
FIGURES = ("tables", "queries", "classifier", "risks")
FILES = {"comparison.csv", "index.html", *(f"{name}.{ending}" for name in FIGURES for ending in ("png", "svg"))}


@pytest.fixture(scope="module")
def people():
    return pk.demo_table().sample(ROWS, seed=5).select("sex", "age", "income", "worked_1989", "education")


@pytest.fixture(scope="module")
def schema(people):
    return pk.Schema([pk.demo_schema().attribute(name) for name in people.columns])


@pytest.fixture(scope="module")
def result(people, schema, seed):
    return pk.experiments.compare(
        people, schema, ks=(2, 20, 1_000), target="income", queries=200, seed=seed, releases=2
    )


def value(result, measure, k, way):
    frame = result.to_polars().filter((pl.col("measure") == measure) & (pl.col("way") == way))
    return frame.filter(pl.col("k").eq_missing(k))["value"].item()


class TestNumbers:
    def test_every_way_has_every_measure(self, result):
        frame = result.to_polars()
        assert result.ks == (2, 20)
        assert result.left_out == (1_000,)
        assert "k = 1,000" in result.about
        uses = {
            "l1_1",
            "l1_2",
            "l1_3",
            "l1_first4",
            "query_error",
            "query_relative",
            "cramers_v",
            "accuracy",
            "log_loss",
        }
        risks = {"linkage", "linkage_highest", "inference", "certain"}
        expected = {
            **{f"{design} {method}": uses for design in ("equal-rho", "optimal") for method in ("inverse", "simplex")},
            "optimal model": uses - {"accuracy", "log_loss"},
            **dict.fromkeys(("equal-rho", "optimal"), risks),
            **dict.fromkeys(("mondrian", "mondrian as-is"), uses | risks),
        }
        for k in result.ks:
            part = frame.filter(pl.col("k") == k)
            assert {way: set(part.filter(pl.col("way") == way)["measure"]) for way in part["way"]} == expected
        assert frame.height == frame.unique(["k", "way", "measure"]).height
        assert frame["value"].is_finite().all()

    def test_what_is_deterministic_has_no_spread(self, result):
        frame = result.to_polars()
        classical = frame.filter(pl.col("way").str.starts_with("mondrian"))
        assert classical["spread"].is_null().all()
        assert classical["epsilon"].is_null().all()
        assert frame.filter(pl.col("way") == "optimal inverse")["spread"].is_not_null().all()

    def test_epsilon_is_that_of_the_plans(self, result, schema):
        for k in result.ks:
            plan = pk.plan(schema, records=ROWS, k=k, design="equal-rho")
            found = result.to_polars().filter((pl.col("k") == k) & (pl.col("way") == "equal-rho inverse"))["epsilon"]
            assert set(found) == {plan.epsilon}

    def test_the_unbiased_error_is_as_predicted(self, result, schema):
        for k in result.ks:
            plan = pk.plan(schema, records=ROWS, k=k, design="equal-rho")
            names = list(schema.names)
            pairs = [plan.predict(a, b).l1 for i, a in enumerate(names) for b in names[i + 1 :]]
            # ten tables of up to 324 cells in two releases: the mean varies by a few percent
            assert value(result, "l1_2", k, "equal-rho inverse") == pytest.approx(np.mean(pairs), rel=0.15)

    def test_no_pick_is_surer_than_promised(self, result):
        for k in result.ks:
            for way in ("mondrian", "equal-rho", "optimal"):
                assert value(result, "linkage_highest", k, way) <= 1 / k + 1e-12
                assert value(result, "linkage", k, way) <= value(result, "linkage_highest", k, way) + 3e-3
            assert value(result, "certain", k, "optimal") == 0

    def test_more_anonymity_more_error(self, result):
        for way in ("mondrian", "mondrian as-is", "equal-rho inverse", "optimal inverse"):
            assert value(result, "l1_2", 2, way) < value(result, "l1_2", 20, way)

    def test_a_model_reads_more_from_few_rows(self, result):
        for k in result.ks:
            model, others = (
                [value(result, measure, k, f"optimal {way}") for measure in ("l1_2", "l1_3", "query_error")]
                for way in ("model", "simplex")
            )
            assert (np.array(model) < others).all()
        assert set(result.to_polars().filter(pl.col("way") == "optimal model")["releases"]) == {1}

    def test_equal_seeds_give_equal_numbers(self, people, schema):
        how = {"ks": [3], "target": "sex", "queries": 20, "releases": 1}
        one, same, other = (
            pk.experiments.compare(people.head(400), schema, seed=seed, **how).to_polars() for seed in (3, 3, 4)
        )
        assert one.equals(same)
        assert not one["value"].equals(other["value"])
        # what does not depend on chance does not depend on the seed
        table = (pl.col("way") == "mondrian") & pl.col("measure").str.starts_with("l1")
        assert one.filter(table)["value"].equals(other.filter(table)["value"])

    def test_a_point_does_not_depend_on_the_others(self, people, schema):
        how = {"target": "sex", "queries": 20, "releases": 1}
        alone, among = (
            pk.experiments.compare(people.head(400), schema, ks=ks, **how).to_polars() for ks in ([5], [2, 5])
        )
        assert among.filter(pl.col("k") == 5).equals(alone.filter(pl.col("k") == 5))

    def test_quick_takes_three_k_and_one_release(self, people, schema):
        found = pk.experiments.compare(people.head(400), schema, quick=True, queries=20)
        assert found.ks == (2, 10, 50)  # of 2, 5, 10, 50; a fifth of the rows is 80
        assert found.releases == 1
        assert found.target == "education"  # the last one

    def test_quick_drops_no_k_that_was_asked_for(self, people, schema):
        found = pk.experiments.compare(people.head(400), schema, ks=(2, 3, 4, 5), quick=True, queries=20)
        assert found.ks == (2, 3, 4, 5)

    def test_a_design_for_larger_tables_serves_them_better(self, people, schema):
        how = {"ks": [20], "target": "sex", "queries": 20, "releases": 3}
        small, large = (pk.experiments.compare(people, schema, workload=workload, **how) for workload in (1, 3))
        assert value(large, "l1_3", 20, "optimal inverse") < value(small, "l1_3", 20, "optimal inverse")
        assert value(large, "l1_1", 20, "optimal inverse") > value(small, "l1_1", 20, "optimal inverse")
        assert value(large, "l1_2", 20, "equal-rho inverse") == value(small, "l1_2", 20, "equal-rho inverse")
        assert "tables of up to 3 attributes" in large.about

    def test_a_table_of_two_attributes(self, people, schema):
        two = pk.Schema([schema.attribute("sex"), schema.attribute("age")])
        found = pk.experiments.compare(people.select("sex", "age"), two, ks=[2], queries=20, releases=1)
        assert not {"l1_3", "l1_first4"} & set(found.to_polars()["measure"])
        assert len(found.findings) > 5

    def test_bundles_count_as_single_attributes(self, people, schema):
        bundled = pk.Schema(schema.attributes, bundles=[pk.Bundle(("sex", "age"))])
        how = {"ks": [2], "queries": 20, "releases": 1}
        plain = pk.experiments.compare(people.head(300), schema, **how)
        assert pk.experiments.compare(people.head(300), bundled, **how).to_polars().equals(plain.to_polars())

    def test_too_many_combinations_for_the_adversaries(self, people, schema, monkeypatch):
        monkeypatch.setattr("pkanon._audit.attacks.linkage.MOST_STEPS", 1)
        monkeypatch.setattr("pkanon._audit.attacks.combinations.MOST_DENSE", 1)
        assert not Linkage.fits((2, 2))
        found = pk.experiments.compare(people.head(300), schema, ks=[2], queries=20, releases=1)
        measures = found.to_polars().drop_nulls("k")
        assert set(measures.filter(pl.col("measure") == "linkage")["way"]) == {"mondrian", "mondrian as-is"}
        assert "inference" not in set(measures["measure"])
        assert "left out" in found.about
        assert len(found.findings) > 5


class TestFindings:
    def test_they_follow_from_the_numbers(self, result):
        by = {finding.measure: finding for finding in result.findings}
        assert by["l1_2"].best == {2: "mondrian", 20: "mondrian"}
        wins = sum(finding.best.get(2) == "mondrian" for finding in result.findings)
        assert f"Of 9 measures of use Mondrian is best in {wins} at k = 2, " in by["overall"].text
        assert "At most 1/k everywhere" in by["linkage_highest"].text
        assert "exceeds 1/k" in by["linkage_highest"].text

    def test_a_change_of_the_numbers_changes_them(self, result):
        frame = result.to_polars()
        worse = pl.when(pl.col("way") == "mondrian").then(1e6).otherwise(pl.col("value"))
        by = {finding.measure: finding for finding in findings(frame.with_columns(value=worse))}
        assert "mondrian" not in by["l1_2"].best.values()
        assert "Mondrian is best in 1 at k = 2, in 1 at k = 20;" in by["overall"].text
        assert set(by["accuracy"].best.values()) == {"mondrian"}  # there more is better
        assert "NOT everywhere" in by["linkage_highest"].text
        none = pl.when(pl.col("measure") == "inference").then(pl.when(pl.col("k").is_null()).then(1.0).otherwise(0.5))
        by = {f.measure: f for f in findings(frame.with_columns(value=none.otherwise(pl.col("value"))))}
        assert "No way lets more be guessed" in by["inference"].text


class TestFolder:
    def test_complete(self, result, tmp_path):
        result.save(tmp_path / "out")
        assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
        assert list(tmp_path.iterdir()) == [tmp_path / "out"]
        numbers = pl.read_csv(tmp_path / "out" / "comparison.csv")
        assert numbers["value"].equals(result.to_polars()["value"])
        page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
        assert page.count("<svg") == 4
        assert result.source in page
        assert "nothing here claims or gives privacy" in page
        assert not any(mark in page for mark in ("<script", "<link", "<img", "src=", "@import"))
        ids = [part.partition('"')[0] for part in page.split(' id="')[1:]]
        assert len(ids) == len(set(ids))

    def test_or_absent(self, result, tmp_path, monkeypatch):
        def fail(*_, **__):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("pkanon._experiments.comparison.result.draw", fail)
        with pytest.raises(pk.EnvironmentFailure, match="No space left"):
            result.save(tmp_path / "out")
        assert list(tmp_path.iterdir()) == []

    def test_json(self, result):
        found = json.loads(json.dumps(result.to_json()))
        assert found["k"] == [2, 20]
        assert found["left_out"] == [1_000]
        assert len(found["numbers"]) == result.to_polars().height
        assert [each["measure"] for each in found["findings"][:2]] == ["overall", "l1_1"]

    def test_unknown_figures_are_refused(self, result):
        with pytest.raises(pk.InputError, match="tables, queries, classifier, risks"):
            result.chart("age")


class TestRefusals:
    @pytest.mark.parametrize(
        ("wrong", "words"),
        [
            ({"ks": [1]}, "2 or more"),
            ({"ks": [2.5]}, "2 or more"),
            ({"ks": []}, "2 or more"),
            ({"ks": [10_000]}, "a fifth of them, 600"),
            ({"seed": -1}, "The seed"),
            ({"releases": 0}, "at least one release"),
            ({"workload": [("sex",)]}, "number of attributes, or full"),
            ({"queries": 0}, "at least one query"),
            ({"target": "incme"}, "Did you mean 'income'"),
        ],
    )
    def test_arguments(self, people, schema, wrong, words):
        with pytest.raises(pk.InputError, match=words):
            pk.experiments.compare(people, schema, **wrong)

    def test_a_table_without_its_schema_and_the_other_way_round(self, people, schema):
        with pytest.raises(pk.InputError, match="with its schema"):
            pk.experiments.compare(people)
        with pytest.raises(pk.InputError, match="with its schema"):
            pk.experiments.compare(None, schema)

    def test_tables_that_are_too_wide_or_too_narrow(self, people, schema):
        wide = pk.Schema([pk.Attribute.ranged(f"a{i}", 0, 999) for i in range(4)])
        with pytest.raises(pk.InputError, match="more than 10,000,000 cells"):
            pk.experiments.compare(people, wide)
        with pytest.raises(pk.InputError, match="at least two"):
            pk.experiments.compare(people.select("sex"), pk.Schema([schema.attribute("sex")]))

    def test_nothing_is_overwritten_and_nothing_computed_first(self, people, schema, tmp_path):
        (tmp_path / "out").mkdir()
        steps = []
        with pytest.raises(pk.InputError, match="exists already"):
            pk.experiments.compare(people, schema, folder=tmp_path / "out", progress=lambda *step: steps.append(step))
        assert steps == []


class TestOddTables:
    """Tables that people have, and that are none of the ordinary ones."""

    @staticmethod
    def random(rows, sizes, seed):
        random = np.random.default_rng(seed)
        table = pl.DataFrame({f"a{i}": random.integers(0, size, rows) for i, size in enumerate(sizes)})
        return table, pk.Schema([pk.Attribute.ranged(f"a{i}", 0, size - 1) for i, size in enumerate(sizes)])

    @pytest.mark.parametrize("sizes", [[2, 2], [3, 4], [2, 3, 4]], ids=str)
    @pytest.mark.parametrize("workload", [1, 2, 3, "full"])
    def test_few_attributes_where_optimal_comes_out_as_joint(self, sizes, workload, seed):
        table, schema = self.random(200, sizes, seed)
        found = pk.experiments.compare(table, schema, ks=[2], workload=workload, releases=1, queries=20)
        assert value(found, "linkage_highest", 2, "optimal") <= 0.5
        assert len(found.findings) > 8

    def test_attributes_in_two_blocks_keep_their_places(self, seed, monkeypatch):
        """Blocks have an order of their own; a mix-up would show as errors of a table that is all noise."""
        monkeypatch.setattr("pkanon._design.optimal.MOST_WORK", 1e6)
        monkeypatch.setattr("pkanon._design.interior.MOST_OPERATIONS", 0)
        sizes = [2, 3, 4, 5, 6, 7, 2, 3, 4]
        table, schema = self.random(4_000, sizes, seed)
        plan = pk.plan(schema, records=4_000, k=2)
        assert [name for block in plan.blocks for name in block.attributes] != list(schema.names)
        found = pk.experiments.compare(table, schema, ks=[2], releases=1, queries=20)
        predicted = np.mean([plan.predict(name).l1 for name in schema.names])
        assert value(found, "l1_1", 2, "optimal inverse") == pytest.approx(predicted, rel=0.5)
        columns = [table[name].to_numpy() for name in schema.names]
        linkage = Linkage(plan, *Combinations.of(columns, sizes), columns)
        for unit, bit in enumerate(np.eye(len(sizes), dtype=int)):
            block = next(block for block in plan.blocks if f"a{unit}" in block.attributes)
            others = [b for b in plan.blocks if b is not block]
            expected = agreement_chances([block])[tuple(int(name == f"a{unit}") for name in block.attributes)]
            for other in others:
                expected = expected * agreement_chances([other])[(0,) * len(other.attributes)]
            assert linkage.chances[tuple(bit)] == pytest.approx(float(expected))

    def test_many_cuts_need_little_memory(self):
        """One person in eighteen steps: group numbers that double with every cut would need gigabytes."""
        codes = np.vstack([np.eye(30, 31, dtype=np.int64).repeat(2, axis=0), np.zeros((60, 31), np.int64)])
        codes[60:, -1] = np.arange(60) % 20
        cells, _ = Combinations.of(list(codes.T), [2] * 30 + [20])
        groups = mondrian(cells, 2)
        assert len(np.unique(groups)) == groups.max() + 1
        assert np.bincount(groups, weights=cells.counts).min() >= 2

    def test_a_constant_attribute(self, seed):
        table, schema = self.random(200, [3, 4, 2], seed)
        found = pk.experiments.compare(
            table.with_columns(a0=pl.lit(1)), schema, ks=[2], target="a0", releases=1, queries=20
        )
        assert value(found, "certain", 2, "mondrian") == 1

    @pytest.mark.parametrize(
        "ks", [2, np.array([2, 3]), [np.int64(3), 2], iter((2, 3))], ids=["one", "array", "numpy", "iterator"]
    )
    def test_ks_as_people_give_them(self, ks, seed):
        table, schema = self.random(100, [3, 2], seed)
        assert set(pk.experiments.compare(table, schema, ks=ks, releases=1, queries=5).ks) <= {2, 3}

    @pytest.mark.parametrize(
        ("sizes", "how", "message"),
        [
            ([50] * 12, {}, "2\\^63 or more combinations"),
            ([2] * 13, {}, "up to 12 can be compared"),
            ([3, 2], {"target": ""}, "target '' is no"),
            ([3, 2], {"target": ["a0"]}, "is not a randomised attribute"),
            ([3, 2], {"ks": "2"}, "whole number of 2 or more"),
        ],
    )
    def test_what_is_refused(self, sizes, how, message, seed):
        table, schema = self.random(100, sizes, seed)
        with pytest.raises(pk.InputError, match=message):
            pk.experiments.compare(table, schema, **({"ks": [2]} | how))

    def test_a_schema_that_is_none_is_not_shown(self, seed):
        table, _ = self.random(100, [3, 2], seed)
        with pytest.raises(pk.InputError, match="not an object of type dict") as caught:
            pk.experiments.compare(table, {"a0": "secret"})
        assert "secret" not in str(caught.value)

    def test_too_few_rows(self, seed):
        table, schema = self.random(3, [3, 2], seed)
        with pytest.raises(pk.DataError, match="at least 10"):
            pk.experiments.compare(table, schema, ks=[2])

    def test_a_workload_ends_with_the_attributes(self, seed):
        table, schema = self.random(100, [3, 2], seed)
        assert pk.experiments.compare(table, schema, ks=[2], workload=9, releases=1, queries=5).workload == 2

    def test_a_folder_that_cannot_be_written_is_refused_at_once(self, seed):
        table, schema = self.random(100, [3, 2], seed)
        with pytest.raises(pk.EnvironmentFailure, match="Cannot write"):
            pk.experiments.compare(
                table, schema, ks=[2], folder="/proc/compared", progress=lambda *_: pytest.fail("too late")
            )


def test_what_is_known_without_any_table_stands_beside(result):
    """Independence and the commonest value, computed by hand."""
    frame = result.to_polars().filter(pl.col("k").is_null())
    found = {(row["measure"], row["way"]): row["value"] for row in frame.to_dicts()}
    assert ("l1_1", "independence") not in found
    assert 0 < found["l1_2", "independence"] < found["l1_3", "independence"]
    assert 0 < found["accuracy", "commonest value"] <= found["accuracy", "raw data"]
