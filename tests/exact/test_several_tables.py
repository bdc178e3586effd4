"""Numbers from several tables and several releases: the same as from one joint table, and right over all releases."""

import itertools
import math

import numpy as np
import pytest
from blocks import BLOCKS
from dense import unit_of
from small_tables import (
    AGREEMENT,
    BUNDLED,
    FORBIDDING,
    MATRIX,
    THREE,
    TWO,
    counted,
    dense_of,
    drawn,
    reconstruct,
    records_of,
)

import pkanon as pk
from pkanon._blocks import Retention
from pkanon._estimate import Reconstruction, joint, variance
from pkanon._estimate.uncertainty import Joint

EXACT = 1e-9
DESIGNS = {
    "retention": (TWO, THREE, MATRIX),
    "agreement": (AGREEMENT, Retention(unit_of(3, names="e"), 2**28, 32)),
    "a bundle with forbidden combinations": (FORBIDDING, TWO),
    "matrix on a bundle": (BUNDLED, Retention(unit_of(2, names="e"), 2**28, 32)),
}
every_design = pytest.mark.parametrize("blocks", DESIGNS.values(), ids=DESIGNS)
both_abouts = pytest.mark.parametrize("about", ["table", "population"])


def names_of(blocks):
    return tuple(name for block in blocks for name in block.attributes)


def at(table, names):
    """The same rows, another table."""
    source = table.source
    return Reconstruction.of(source.schema, source.blocks, source.codes, names, about=table.about)


def same(one, two):
    assert one.value == pytest.approx(two.value, rel=EXACT, abs=EXACT)
    assert one.unbiased == pytest.approx(two.unbiased, rel=EXACT, abs=EXACT)
    assert one.standard_error == pytest.approx(two.standard_error, rel=EXACT, abs=EXACT)
    assert one.interval() == pytest.approx(two.interval(), rel=1e-7, abs=1e-7)


def numbers(table, names, seed):
    """A linear function and a quotient of a table of ``names``, also as weights of a larger table."""
    small = at(table, names) if table.names != names else table
    draw = np.random.default_rng(seed)
    shape = [small.counts.shape[small.names.index(name)] for name in names]
    weights = draw.normal(size=shape), draw.uniform(1, 2, size=shape)
    return small, weights


def spread(weights, names, table):
    """Weights of a table of ``names`` as weights of a larger one."""
    own = [name for name in table.names if name in names]
    array = np.transpose(weights, [names.index(name) for name in own])
    return array.reshape([size if name in own else 1 for name, size in zip(table.names, table.counts.shape)])


@every_design
@both_abouts
def test_numbers_from_two_tables_are_those_of_the_joint_table(blocks, about, seed):
    names = names_of(blocks)
    whole = drawn(blocks, names, 400, seed, about=about)
    for first, second in [(names[:2], names[1:]), (names[:1], names[-1:]), (names[::-1], names), (names, names[1:2])]:
        pairs = []
        for place, chosen in enumerate((first, second)):
            small, (linear, positive) = numbers(whole, chosen, seed + place)
            other = [spread(weights, chosen, whole) for weights in (linear, positive)]
            pairs.append(
                (
                    small.linear(linear),
                    whole.linear(other[0]),
                    small.linear(linear) / small.linear(positive),
                    whole.linear(other[0]) / whole.linear(other[1]),
                )
            )
        (a, a_whole, r, r_whole), (b, b_whole, s, s_whole) = pairs
        same(a - b, a_whole - b_whole)
        same(a / b, a_whole / b_whole)
        same(r - s, r_whole - s_whole)
        same((r * s) ** 2, (r_whole * s_whole) ** 2)
        same(a + b + r - 3 * a, a_whole + b_whole + r_whole - 3 * a_whole)


@every_design
def test_a_number_less_itself_is_certain(blocks, seed):
    names = names_of(blocks)
    table = drawn(blocks, names, 300, seed)
    again, small = at(table, names), at(table, names[:1])
    weights = np.arange(table.counts.shape[0], dtype=float)
    one, two, three = (
        each.linear(spread(weights, names[:1], each) if each is not small else weights)
        for each in (table, again, small)
    )
    for zero in (one - two, one - three, three - two, small.linear(weights) - three):
        assert zero.value == pytest.approx(0, abs=1e-9)
        assert zero.standard_error == pytest.approx(0, abs=1e-6)
        assert zero.test().p_value == 1


@every_design
def test_tables_that_stay_apart_give_the_same_about_the_population(blocks, seed, monkeypatch):
    """Where the joint table is too large, products are summed over rows."""
    names = names_of(blocks)
    table = drawn(blocks, names, 400, seed, about="population")
    parts = []
    for place, chosen in enumerate((names[:2], names[1:])):
        small, (linear, positive) = numbers(table, chosen, seed + place)
        parts.append((small.linear(linear), small.linear(linear) / small.linear(positive)))
    together = [parts[0][i] - parts[1][i] for i in (0, 1)]
    monkeypatch.setattr(joint, "LARGEST_JOINT", 1)
    for i in (0, 1):
        apart = parts[0][i] - parts[1][i]
        assert isinstance(apart._basis, Joint)
        assert apart.standard_error == pytest.approx(together[i].standard_error, rel=EXACT)
        assert apart.value == pytest.approx(together[i].value, rel=EXACT)
        with pytest.raises(pk.InputError, match="several tables"):
            _ = apart.weights


def test_tables_that_stay_apart_about_the_table(seed, monkeypatch):
    """No block in common: nothing varies together. Else it is refused, with the reason."""
    table = drawn((TWO, THREE, MATRIX), ("a", "b", "e"), 400, seed)
    a, b, ab = (at(table, names) for names in (("a",), ("b",), ("a", "b")))
    one, two = a.linear([1, -1]), b.linear([1, 2, 0])
    together = one + two
    monkeypatch.setattr(joint, "LARGEST_JOINT", 1)
    monkeypatch.setattr(variance, "LARGEST_JOINT", 1)
    assert (one + two).standard_error == pytest.approx(together.standard_error, rel=EXACT)
    e = at(table, ("b", "e")).linear(np.arange(9.0).reshape(3, 3) ** 2)
    with pytest.raises(pk.InputError, match="has 18 cells; the limit is 1"):
        _ = (ab.linear([[1, 2, 3], [3, 5, 9]]) + e).standard_error


def test_survey_weights_must_be_the_same(seed):
    table = drawn((TWO, THREE), ("a", "b"), 50, seed)
    source = table.source
    weights = np.linspace(1, 2, 50)
    weighted = [
        Reconstruction.of(source.schema, source.blocks, source.codes, names, weights=w)
        for names, w in ((("a",), weights), (("b",), weights.copy()), (("b",), None))
    ]
    one, two, none = (each.linear(np.eye(each.counts.size)[0]) for each in weighted)
    whole = Reconstruction.of(source.schema, source.blocks, source.codes, ("a", "b"), weights=weights)
    same(one - two, whole.linear([[1], [0]]) - whole.linear([[1, 0, 0]]))
    with pytest.raises(pk.InputError, match="survey weights"):
        one - none


def test_a_weighted_and_an_unweighted_number_where_the_weight_is_randomised(seed):
    schema = pk.Schema([pk.Attribute("a", ["x", "y"]), pk.Attribute("w", [1, 2, 5])])
    blocks = tuple(Retention(unit, 2**29, 32) for unit in schema.units)
    draw = np.random.default_rng(seed)
    codes = {"a": draw.integers(0, 2, 500).astype(np.uint8), "w": draw.integers(0, 3, 500).astype(np.uint8)}
    weighed = pk.Estimate.of(schema, blocks, codes, ("a",), weights=("w", np.array([1.0, 2.0, 5.0])))
    whole = pk.Estimate.of(schema, blocks, codes, ("a", "w"))
    plain = pk.Estimate.of(schema, blocks, codes, ("a",))
    found = weighed.count(a="x") - plain.count(a="x")
    same(found, whole.linear([[0, 1, 4], [0, 0, 0]]))


def test_abouts_must_be_the_same(seed):
    table = drawn((TWO,), ("a",), 50, seed)
    other = Reconstruction.of(table.source.schema, (TWO,), table.source.codes, ("a",), about="population")
    with pytest.raises(pk.InputError, match="same about="):
        table.linear([1, 0]) - other.linear([1, 0])


# several releases

SMALL = (Retention(unit_of(2), 2**29, 32), Retention(unit_of(2, names="b"), 2**28, 32))
OTHER = (Retention(unit_of(2), 2**28, 32), Retention(unit_of(2, names="b"), 2**29, 32))


def outcomes(blocks, laws):
    """All releases of some people with their chances, in one order: errors do not depend on the order."""
    records = records_of(blocks)
    for outcome in itertools.product(range(len(records)), repeat=len(laws)):
        chance = math.prod(law[v] for law, v in zip(laws, outcome))
        yield chance, [records[v] for v in outcome]


@pytest.mark.parametrize("weights", ["plan", "rows", "equal", [1, 3]])
def test_the_average_of_two_releases_of_the_same_people_is_unbiased_and_so_is_its_variance(weights):
    records = records_of(SMALL)
    people = [0, 3]
    truth = counted(SMALL, [records[i] for i in people], ("a",))[0]
    laws = [dense_of(blocks)[people] for blocks in (SMALL, OTHER)]
    mean = second = said = 0.0
    for (p, first), (q, twice) in itertools.product(outcomes(SMALL, laws[0]), outcomes(OTHER, laws[1])):
        counts = [reconstruct(SMALL, first, ("a",)).linear([1, 0]), reconstruct(OTHER, twice, ("a",)).linear([1, 0])]
        pooled = pk.pool(counts, people="same", weights=weights)
        mean += p * q * pooled.value
        second += p * q * pooled.value**2
        said += p * q * pooled.standard_error**2
    assert mean == pytest.approx(truth, abs=EXACT)
    assert said == pytest.approx(second - truth**2, rel=EXACT)  # a single retention block: never estimated below zero


def test_the_weights_of_a_plan_are_the_best_and_do_not_depend_on_the_data(seed):
    one, other = (drawn(blocks, ("a",), 60, seed + i) for i, blocks in enumerate((SMALL, OTHER)))
    alone = [pk.pool([t.linear([1, 0]) for t in pair], people="same") for pair in ((one, other), (other, one))]
    same(alone[0], alone[1])
    # n (c - 1) / V of each: the error is known before any data exist
    predicted = [60 * (table.channel.error_factor - 1) / 2 for table in (one, other)]
    share = (1 / predicted[0]) / (1 / predicted[0] + 1 / predicted[1])
    expected = share * one.linear([1, 0]).value + (1 - share) * other.linear([1, 0]).value
    assert alone[0].value == pytest.approx(expected, rel=EXACT)


@pytest.mark.parametrize("tables", [(("a",), ("a",)), (("a",), ("b",)), (("a", "b"), ("b",))])
def test_two_releases_of_one_sample_share_its_error(tables, seed):
    """People are drawn, then released twice: the estimated covariance is right on average."""
    records = records_of(SMALL)
    draw = np.random.default_rng(seed)
    p = draw.dirichlet(np.ones(len(records)))
    weights = [draw.normal(size=[2] * len(names)) for names in tables]
    a, b = dense_of(SMALL), dense_of(OTHER)
    means = np.zeros(2)
    product = said = 0.0
    for people in itertools.product(range(len(records)), repeat=2):
        drawn_with = math.prod(p[i] for i in people)
        for (c, one), (d, two) in itertools.product(outcomes(SMALL, a[list(people)]), outcomes(OTHER, b[list(people)])):
            chance = drawn_with * c * d
            first = reconstruct(SMALL, one, tables[0], about="population")
            second = reconstruct(OTHER, two, tables[1], about="population")
            values = [float((w * t.counts).sum()) for w, t in zip(weights, (first, second))]
            means += chance * np.array(values)
            product += chance * values[0] * values[1]
            if not first.same_release(second):
                said += chance * variance.between(first, weights[0], second, weights[1], "same")
    assert said == pytest.approx(product - means[0] * means[1], abs=EXACT)


def test_of_other_people_nothing_is_shared(seed):
    one, two = (drawn(SMALL, ("a", "b"), rows, seed + rows, about="population") for rows in (300, 500))
    shares = [table.linear([[1, 1], [0, 0]]) / table.linear(np.ones((2, 2))) for table in (one, two)]
    first, second = pk.together(*shares, people="disjoint")
    for before, after in zip(shares, (first, second)):
        same(before, after)  # a number by itself stays as it is
    difference = second - first
    assert difference.standard_error == pytest.approx(math.hypot(*(s.standard_error for s in shares)), rel=EXACT)
    assert difference.value == pytest.approx(shares[1].value - shares[0].value)
    total = pk.together(*(t.linear([[1, 0], [0, 0]]) for t in (one, two)), people="disjoint")
    whole = total[0] + total[1]
    low, high = whole.interval()
    parts = [number.interval() for number in total]
    centre = whole.value
    assert centre - low == pytest.approx(math.hypot(*(n.value - p[0] for n, p in zip(total, parts))), rel=1e-6)
    assert high - centre == pytest.approx(math.hypot(*(p[1] - n.value for n, p in zip(total, parts))), rel=1e-6)
    # a third number of a release that is known already joins them
    joined = difference + one.linear([[1, 0], [0, 0]]) / 300
    alone = one.linear([[1, 0], [0, 0]]) / 300 - shares[0]
    assert joined.standard_error == pytest.approx(math.hypot(alone.standard_error, shares[1].standard_error), rel=EXACT)


def test_the_sampling_error_of_the_same_people_is_counted_once(seed):
    """Of the same rows kept as they are, twice: the pooled share has the sampling error of one."""
    kept = [tuple(Retention(unit_of(2, names=n), 0, w) for n in "ab") for w in (16, 32)]
    records = [(int(x), int(y)) for x, y in np.random.default_rng(seed).integers(0, 2, (200, 2))]
    tables = [
        reconstruct(blocks, order, ("a", "b"), about="population")
        for blocks, order in zip(kept, (records, records[::-1]))
    ]
    shares = [table.linear([[1, 0], [0, 0]]) for table in tables]
    pooled = pk.pool(shares, people="same")
    assert pooled.standard_error == pytest.approx(shares[0].standard_error, rel=1e-6)
    assert pk.pool(shares, people="disjoint").standard_error == pytest.approx(shares[0].standard_error / math.sqrt(2))


def shares_of(*tables):
    return [table.linear(np.eye(table.counts.size)[0].reshape(table.counts.shape)) for table in tables]


def test_refusals(seed):
    one, two = (drawn(SMALL, ("a",), rows, seed + rows) for rows in (50, 60))
    first, second = shares_of(one, two)
    with pytest.raises(pk.InputError, match=r"pk\.together"):
        first - second
    with pytest.raises(pk.InputError, match="equally many rows; these have 50 and 60"):
        pk.together(first, second, people="same")
    with pytest.raises(pk.InputError, match="partly the same"):
        pk.together(first, second, people="some")
    with pytest.raises(pk.InputError, match="not a float"):
        pk.together(first, 3.0, people="disjoint")
    with pytest.raises(pk.InputError, match="one and the same release"):
        pk.pool([first, first], people="same")
    with pytest.raises(pk.InputError, match="weights='rows'"):
        pk.pool([first.log(), second.log()], people="disjoint")
    with pytest.raises(pk.InputError, match="not all zero"):
        pk.pool([first, second], people="disjoint", weights=[0, 0])
    with pytest.raises(pk.InputError, match="by 'plan'"):
        pk.pool([first, second], people="disjoint", weights="best")
    with pytest.raises(pk.InputError, match="nothing to pool"):
        pk.pool([], people="disjoint")
    third = shares_of(drawn(SMALL, ("a",), 70, seed + 70))[0]
    a, _ = pk.together(first, second, people="disjoint")
    b, _ = pk.together(third, second, people="disjoint")
    with pytest.raises(pk.InputError, match=r"one call of pk\.together"):
        a - b


def test_the_same_people_need_a_table_that_one_release_has(seed):
    """About the population the shared error is read from the joint table; about the table there is nothing to read."""
    only_a, only_b = (Retention(unit_of(2), 2**29, 32),), (Retention(unit_of(2, names="b"), 2**28, 32),)
    for about in ("table", "population"):
        first, second = shares_of(
            drawn(only_a, ("a",), 50, seed, about=about), drawn(only_b, ("b",), 50, seed, about=about)
        )
        one, two = pk.together(first, second, people="same")
        if about == "table":
            assert (one - two).standard_error == pytest.approx(math.hypot(first.standard_error, second.standard_error))
        else:
            with pytest.raises(pk.InputError, match="which neither"):
                _ = (one - two).standard_error


@pytest.mark.parametrize("block", ["agreement", "matrix on a bundle"])
def test_a_release_opened_twice_is_one_release(block, seed):
    blocks = (BLOCKS[block],)
    table = drawn(blocks, names_of(blocks)[:1], 40, seed)
    codes = {name: column.copy() for name, column in table.source.codes.items()}
    again = Reconstruction.of(table.source.schema, blocks, codes, table.names)
    difference = shares_of(table)[0] - shares_of(again)[0]
    assert (difference.value, difference.standard_error) == (0, 0)
