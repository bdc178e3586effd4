"""Standard errors of grouped answers are those that linear functions of the table give, one by one."""

import numpy as np
import polars as pl
import pytest
from mixed import make_release, make_schema, make_table, noisy

import pkanon as pk
from pkanon._estimate import standard_errors
from pkanon._estimate.variance import estimated_variances
from pkanon._results.sql.evaluate import Evaluation
from pkanon._results.sql.language import Aggregate, Arithmetic, Number
from pkanon._results.sql.statement import read

QUERIES = [
    "SELECT rooms, COUNT(*) FILTER (WHERE Region = 'east') AS c, AVG(children) FROM release GROUP BY rooms",
    "SELECT age, AVG(rooms), COUNT(*) * 2 - SUM(rooms) AS d FROM release WHERE married GROUP BY age",  # splits the bundle
    "SELECT married, wave, SUM(age) / COUNT(*) AS m FROM release WHERE age >= 30 OR rooms > 2 GROUP BY married, wave",
    "SELECT age, married, AVG(rooms) * AVG(children) AS p FROM release GROUP BY age, married",
    "SELECT rooms, SUM(rooms) AS s FROM release WHERE rooms > 2 AND married OR rooms < 3 GROUP BY rooms",
    "SELECT Region, 1 / AVG(rooms) AS i FROM release WHERE floor >= 1 GROUP BY Region",
    "SELECT AVG(income) - AVG(age) AS d FROM release WHERE NOT children = 2",
]


def half(unit):
    """Half of the answers are kept."""
    return 2**32 // (2 * unit.size)


def quantity(evaluation, expression, place):
    """An expression in one group, by the arithmetic of Quantity."""
    match expression:
        case Number(value):
            return value
        case Aggregate(function):
            inside = np.zeros(evaluation.table.counts.shape)
            groups = len(evaluation.query.groups)
            cell = tuple(evaluation.numbers[name][place] for name in evaluation.query.groups)
            parts = {}
            for kind in ("sum", "count"):
                if (kind, expression) in evaluation.functions:
                    weights = np.broadcast_to(evaluation.functions[kind, expression], inside.shape)
                    inside = np.zeros(inside.shape)
                    inside[cell] = weights[cell]
                    parts[kind] = evaluation.table.linear(inside)
            assert groups == len(cell)
            return parts["sum"] / parts["count"] if function == "avg" else parts[function]
        case Arithmetic(sign, left, right):
            a, b = quantity(evaluation, left, place), quantity(evaluation, right, place)
            return {"+": a.__add__, "-": a.__sub__, "*": a.__mul__}[sign](b) if sign != "/" else a / b


@pytest.mark.parametrize("about", ["table", "population"])
@pytest.mark.parametrize("rows", [4_000, 6, 3])  # of a few rows, some variances are those of the nearest table
@pytest.mark.parametrize("sql", QUERIES)
def test_errors_are_those_of_linear_functions(sql, rows, about):
    release = make_release(make_table(rows), half, seed=2)
    query = read(sql, release.plan.schema)
    evaluation = Evaluation(query, release.crosstab(*query.attributes(), about=about))
    for column in query.columns:
        if isinstance(column.item, str):
            continue
        (part,) = evaluation.parts  # no group is made by labels
        measured = part.measure(column.item)
        errors = standard_errors(part.basis, measured)
        for place in range(len(part.shown)):
            if np.isnan(measured.value[place]):
                assert np.isnan(errors[place])
                continue
            one = quantity(evaluation, column.item, place)
            # the same sums in another order; a variance is a small difference of them
            assert measured.value[place] == pytest.approx(one._number.value[0], rel=1e-9, abs=1e-9)
            assert evaluation.value(column.item)[place] == pytest.approx(one.value, rel=1e-9, abs=1e-9)
            if not 0 < one.standard_error < 1e-12:  # rounding that was taken for a variance
                assert errors[place] == pytest.approx(one.standard_error, rel=1e-6, abs=1e-9)


def test_the_few_rows_above_have_variances_that_cannot_be_estimated():
    release = make_release(make_table(3), half, seed=2)
    query = read(QUERIES[0], release.plan.schema)
    (part,) = Evaluation(query, release.crosstab(*query.attributes())).parts
    basis = part.basis
    plain = [estimated_variances(basis.table, basis.linear(np.eye(len(basis.weights))[[i]]))[0] for i in range(3)]
    assert (np.array(plain) < -0.1).any()


def matrix_release(rows=3_000):
    """A bundle with a matrix: its inverse does not split into attributes."""
    schema = pk.Schema(
        [pk.Attribute("a", ["x", "y"]), pk.Attribute("b", ["u", "v", "w"]), pk.Attribute("c", ["p", "q"])],
        [pk.Bundle(["a", "b"])],
    )
    draw = np.random.default_rng(2)
    rows_of = draw.integers(1, 5, (6, 6)) + 20 * np.eye(6, dtype=int)
    numbers = [[int(x) for x in row] for row in rows_of]
    for row in numbers:
        row[0] += 64 - sum(row)
    scaled = tuple(tuple(x * 2**26 for x in row) for row in numbers)
    blocks = (pk.Matrix(schema.units[0], scaled), pk.Retention(schema.units[1], replace=2**28))
    table = pl.DataFrame(
        {name: draw.choice(list(values), rows) for name, values in [("a", "xy"), ("b", "uvw"), ("c", "pq")]}
    )
    return pk.release(table, pk.Plan(schema, blocks, records=rows), randomness=pk.Seeded(1))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a, COUNT(*) FILTER (WHERE c = 'p') AS n FROM release GROUP BY a",
        "SELECT c, COUNT(*) FILTER (WHERE a = 'x') AS n FROM release GROUP BY c",
        "SELECT a, COUNT(*) FILTER (WHERE b <> 'u' OR c = 'p') AS n FROM release GROUP BY a",
        "SELECT a, c, COUNT(*) FROM release GROUP BY a, c",
    ],
)
def test_a_matrix_on_a_bundle(sql):
    release = matrix_release()
    query = read(sql, release.plan.schema)
    evaluation = Evaluation(query, release.crosstab(*query.attributes()))
    expression = query.columns[-1].item
    (part,) = evaluation.parts
    errors = standard_errors(part.basis, part.measure(expression))
    for place, error in enumerate(errors):
        assert error == pytest.approx(quantity(evaluation, expression, place).standard_error, rel=1e-9)


def test_counts_of_groups_have_the_intervals_of_cells():
    release = make_release(make_table(200), noisy, seed=4)
    table = release.crosstab("age", "married")
    low, high = table.interval(0.9)
    shown = table.channel.possible
    frame = release.query("SELECT age, married, COUNT(*) AS n FROM release GROUP BY age, married", level=0.9).frame
    assert frame.height == table.counts.size - 1  # one combination is forbidden
    for column, cells in [
        ("n", table.counts),
        ("n_std_error", table.standard_errors),
        ("n_low_90", low),
        ("n_high_90", high),
    ]:
        assert frame[column].to_numpy() == pytest.approx(cells[shown])


@pytest.mark.parametrize("method", ["simplex", "em"])
def test_other_methods(method):
    release = make_release(make_table(300), noisy, seed=4)
    frame = release.query("SELECT age, COUNT(*), AVG(rooms) FROM release GROUP BY age", method=method).frame
    assert (frame["count"] >= 0).all()
    counts = release.crosstab("age", "rooms", method=method).counts
    assert frame["count"].to_numpy() == pytest.approx(counts.sum(1))
    assert frame["avg_rooms"].to_numpy() == pytest.approx(counts @ [1, 2, 3, 4, 6] / counts.sum(1))


def test_a_denominator_that_is_not_positive_gives_null():
    release = make_release(make_table(60), half, seed=9)
    query = "SELECT Region, rooms, wave, COUNT(*), AVG(children) AS a FROM release GROUP BY Region, rooms, wave"
    answer = release.query(query)
    null = answer.frame["a"].is_null()
    assert null.any()
    assert not null.all()
    assert (answer.frame["a_std_error"].is_null() == null).all()
    nobody = answer.frame.filter(null)
    assert (nobody["a_low_95"] == 0).all()  # all that it could be
    assert (nobody["a_high_95"] == 5).all()
    assert (nobody["a_flag"] == "small group").all()
    assert any("not positive" in note for note in answer.notes)


def test_a_most_likely_mean_whose_denominator_may_be_nothing_has_no_error():
    """The most likely table has somebody in every group; errors belong to the unbiased one, which need not."""
    release = make_release(make_table(60), half, seed=9)
    query = "SELECT Region, rooms, wave, COUNT(*), AVG(children) AS a FROM release GROUP BY Region, rooms, wave"
    answer, unbiased = (release.query(query, method=method, level=0.1) for method in ("em", "inverse"))
    frame = answer.frame
    unknown = unbiased.frame["a"].is_null()
    assert unknown.any()
    assert not unknown.all()
    assert frame["a"].null_count() == 0
    assert (frame["a_std_error"].is_null() == unknown).all()
    lost = frame.filter(unknown)
    assert (lost["a_low_10"] == 0).all()  # all that it could be
    assert (lost["a_high_10"] == 5).all()
    assert (lost["a_flag"] == "small group").all()
    assert any("nothing bounds" in note for note in answer.notes)
    assert not any("nothing bounds" in note for note in unbiased.notes)
    for name in ("count", "a"):  # limits hold the value
        known = frame.filter(pl.col(f"{name}_std_error").is_not_null())
        assert (known[f"{name}_low_10"] <= known[name] + 1e-9).all()
        assert (known[name] <= known[f"{name}_high_10"] + 1e-9).all()
    assert (frame["count_low_10"] >= 0).all()
    # around the unbiased number, and wider only where that is needed
    known, plain = frame.filter(~unknown), unbiased.frame.filter(~unknown)
    assert known["a_std_error"].to_numpy() == pytest.approx(plain["a_std_error"].to_numpy())
    assert known["a_low_10"].to_numpy() == pytest.approx(np.minimum(plain["a_low_10"], known["a"]))
    assert known["a_high_10"].to_numpy() == pytest.approx(np.maximum(plain["a_high_10"], known["a"]))
    assert (plain["a_low_10"] > known["a"]).any()
    assert (plain["a_high_10"] < known["a"]).any()
    _, rows = answer.rows_as_text()
    for row, lost in zip(rows, unknown):
        assert row[-3].endswith("± -") == lost  # an error that is not known is not zero
        assert (row[-1] == "small group") >= lost
    assert rows[unknown.arg_true()[0]][-3] == f"{frame['a'][unknown.arg_true()[0]]:.4g} ± -"


def test_groups_that_cannot_be_do_not_appear(truth):
    frame = truth.kept.query("SELECT age, married, COUNT(*) FROM release WHERE age < 45 GROUP BY 1, 2").frame
    # three bins, three values, without the married below 18
    assert frame.height == 8
    assert ("<18", True) not in frame.select("age", "married").rows()
    frame = truth.kept.query("SELECT rooms, COUNT(*) FROM release WHERE rooms = 1 AND rooms = 2 GROUP BY rooms").frame
    assert frame.height == 0
    assert truth.kept.query("SELECT COUNT(*) FROM release WHERE rooms = 1 AND rooms = 2").frame["count"].item() == 0


def test_columns_have_released_types(truth):
    answer = truth.kept.query(
        "SELECT Region, rooms, married, wave, joined, COUNT(*) FROM release GROUP BY 1, 2, 3, 4, 5"
    )
    released = truth.kept.table.schema
    schema = answer.frame.schema
    assert all(schema[name] == released[name] for name in ("Region", "rooms", "married", "wave", "joined"))
    assert answer.to_pandas().shape == answer.frame.shape
    assert answer.to_arrow().num_rows == answer.frame.height


def test_answers_as_text_and_json(truth):
    answer = truth.kept.query(
        "SELECT children, COUNT(*) AS n, AVG(age) FROM release GROUP BY children ORDER BY n DESC LIMIT 2"
    )
    header, rows = answer.rows_as_text()
    assert header == ["children", "n", "95% interval", "avg_age", "95% interval"]
    assert len(rows) == 2
    assert "± 0" in rows[0][1]
    assert any("middle" in note for note in answer.notes)
    assert any("noisy" in note for note in answer.notes)
    assert str(answer).splitlines()[0].split() == ["children", "n", "95%", "interval", "avg_age", "95%", "interval"]
    data = answer.to_json()
    assert data["rows"][0]["n"] == answer.frame["n"][0]
    assert "(missing)" in str(truth.kept.query("SELECT married, COUNT(*) FROM release GROUP BY married"))


def test_default_names(truth):
    sql = "SELECT COUNT(*), COUNT(rooms), SUM(rooms), AVG(rooms), SUM(rooms) / COUNT(*) FROM release"
    assert truth.kept.query(sql).estimates == (
        "count",
        "count_rooms",
        "sum_rooms",
        "avg_rooms",
        "sum(rooms) / count(*)",
    )


def test_unlisted_values_have_no_order(truth):
    def counted(where):
        answer = truth.kept.query(f"SELECT COUNT(*) FROM release WHERE {where}")
        return answer.frame["count"].item(), answer.notes

    above, notes = counted("floor >= 1")
    below, _ = counted("NOT floor >= 1")
    unlisted, silent = counted("floor = 99")
    assert above + below + unlisted == pytest.approx(truth.table.height)
    assert any("Unlisted values of 'floor'" in note for note in notes)
    assert not any("Unlisted" in note for note in silent)


def test_the_schema_of_these_tests_has_every_kind():
    assert {attribute.type for attribute in make_schema().randomised} == {
        "text",
        "integer",
        "number",
        "boolean",
        "date",
    }
