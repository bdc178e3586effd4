"""Numbers that are rounded at random to points: exactly the right chances, no bias, nothing lost from k and epsilon."""

import itertools
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import pkanon as pk
from pkanon._frames import encode
from pkanon._sample import Keystream, round_places
from pkanon._sample.keystream import rounding_stream
from pkanon._schema import Points

POINTS = [0.0, 1.0, 3.0, 10.0]


class Listed:
    """Words by hand."""

    def __init__(self, words):
        self.listed = np.asarray(words, np.uint32)

    def words(self, stream, start, count, width):
        assert stream == rounding_stream(2)
        assert width == 32
        return self.listed[start : start + count]


def test_every_part_of_the_way_is_a_chance_exactly():
    """All words of 2^bits, for small bits: the share that goes on to the next code is the part of the way."""
    bits = 6
    for place in range(3 << bits):
        words = np.arange(1 << bits, dtype=np.uint32) << np.uint32(32 - bits)
        codes = round_places(np.full(1 << bits, place, np.uint32), bits, 4, 2, Listed(words))
        code, way = divmod(place, 1 << bits)
        assert Fraction(int((codes == code + 1).sum()), 1 << bits) == Fraction(way, 1 << bits)
        assert set(codes.tolist()) <= {code, code + 1}


def test_low_bits_of_words_do_not_matter_and_pieces_join():
    source = Keystream(bytes(32))
    places = np.arange(200_000, dtype=np.uint32) % (3 << 20)
    whole = round_places(places, 20, 5, 1, source)
    words = source.words(rounding_stream(1), 0, len(places), 32) >> np.uint32(12)
    np.testing.assert_array_equal(whole, (places + words) >> np.uint32(20))


@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32, pl.String, pl.Int16])
def test_places_are_where_the_numbers_are(dtype):
    schema = pk.Schema([pk.Attribute.pointed("w", POINTS, missing="value", missing_values=["NA"])])
    numbers = [0, 1, 2, 3, 7, 10] if dtype == pl.Int16 else [0.0, 0.25, 1.0, 2.5, 3.0, 9.875, 10.0]
    column = pl.Series("w", numbers).cast(dtype)
    encoded = encode(pl.DataFrame([pl.concat([column, column.clear(1)])]), schema, unrounded=True)
    bits = schema.attributes[0].domain.bits
    places = encoded.codes["w"].astype(np.int64)
    assert places[-1] == 4 << bits  # missing
    found = np.interp(places[:-1] / 2**bits, range(4), POINTS)
    np.testing.assert_allclose(found, numbers, atol=10 * 2.0**-bits)
    nearest = encode(pl.DataFrame([column]), schema).codes["w"]
    assert nearest.tolist() == [schema.attributes[0].code(float(number)) for number in numbers]


@pytest.mark.parametrize("open", ["none", "low", "high", "both"])
def test_beyond_the_ends(open):
    attribute = pk.Attribute.pointed("w", POINTS, open=open)
    schema = pk.Schema([attribute])
    for number, end, code in ((-5.0, "low", 0), (11.0, "high", 3)):
        frame = pl.DataFrame({"w": [1.0, number]})
        if open in (end, "both"):
            assert encode(frame, schema).codes["w"].tolist() == [1, code]
            assert attribute.code(number) == code
        else:
            with pytest.raises(
                pk.DataError, match="does not list; declare points as low and as high as values can be, name"
            ):
                encode(frame, schema)
            with pytest.raises(pk.DataError, match="outside"):
                attribute.code(number)
    for number in (float("inf"), float("-inf")):
        with pytest.raises(pk.DataError):
            encode(pl.DataFrame({"w": [1.0, number]}), schema)


def released(numbers, seeds, **target):
    schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.pointed("w", POINTS)])
    frame = pl.DataFrame({"sex": ["F", "M"] * (len(numbers) // 2), "w": numbers})
    plan = pk.plan(schema, records=len(numbers), **target)
    return [pk.release(frame, plan, randomness=pk.Seeded(seed)) for seed in seeds]


def test_sums_have_no_bias_and_errors_cover_the_rounding():
    """Rounding is nearly all of the noise here: with the nearest point the sum would be off by a fifth."""
    numbers = np.full(2_000, 1.8)
    totals = [r.crosstab("w").sum("w") for r in released(numbers, range(60), epsilon=30)]
    deviations = np.array([(total.value - numbers.sum()) / total.standard_error for total in totals])
    assert abs(deviations.mean()) < 4 / np.sqrt(60)
    # the truth is 0.4 * 0.6 of (3 - 1)^2; the limit a quarter of 2^2 for people at 1 and of 7^2 for those at 3
    assert deviations.std() == pytest.approx(np.sqrt(0.24 * 4 / (0.6 * 1 + 0.4 * 12.25)), rel=0.35)
    assert abs(np.mean([float(t) for t in totals]) / numbers.sum() - 1) < 0.005


def test_weights_by_points_cover():
    draw = np.random.default_rng(4)
    numbers = draw.gamma(2.0, 1.2, 4_000).clip(0, 10)
    true = np.array([numbers[0::2].sum(), numbers[1::2].sum()])
    tables = [r.crosstab("sex", weights="w") for r in released(numbers, range(80), k=20)]
    deviations = np.array([(t.counts - true) / t.standard_errors for t in tables])
    assert abs(deviations.mean()) < 4 / np.sqrt(deviations.size)
    assert 0.85 < deviations.std() < 1.15
    assert all(t.weight_error == 0 for t in tables)


def test_rounding_never_costs_privacy():
    """Somebody between points is released like a mixture of people at them: no ratio and no posterior grows beyond theirs."""
    plan = pk.plan(pk.Schema([pk.Attribute.pointed("w", POINTS)]), records=3, k=2)
    (block,) = plan.blocks
    matrix = np.array([block.forward(row, {"w": 0}) for row in np.eye(4)])
    mixtures = [
        (1 - way) * matrix[code] + way * matrix[code + 1] for code, way in itertools.product(range(3), (0.25, 0.5))
    ]
    most = max((a / b).max() for a, b in itertools.product([*matrix, *mixtures], repeat=2))
    assert np.log(most) <= plan.epsilon + 1e-12
    at_points, between = highest_posterior(matrix), highest_posterior([*matrix[::3], *mixtures])
    assert between <= at_points <= 1 / plan.k + 1e-12


def highest_posterior(laws):
    """The highest chance that one row is the first person's, over all tables of three people and all releases."""
    highest = 0.0
    for three in itertools.product(laws, repeat=3):
        for rows in itertools.product(range(4), repeat=3):
            orders = {o: np.prod([three[p][rows[o[p]]] for p in range(3)]) for o in itertools.permutations(range(3))}
            highest = max(highest, sum(v for o, v in orders.items() if o[0] == 0) / sum(orders.values()))
    return highest


def test_plans_and_schemas_keep_points(tmp_path):
    attribute = pk.Attribute.pointed("w", [100, 200, 400], open="high", missing="value")
    assert attribute.type == "integer"
    plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"]), attribute]), records=50, k=3)
    plan.save(tmp_path / "plan.json")
    assert pk.read_plan(tmp_path / "plan.json").schema.attribute("w") == attribute
    (tmp_path / "s.toml").write_text('[attributes.w]\npoints = [100, 200, 400]\nopen = "high"\nmissing = "value"\n')
    read = pk.read_schema(tmp_path / "s.toml")
    assert read.attribute("w") == attribute
    (tmp_path / "again.toml").write_text(read.to_toml())
    assert pk.read_schema(tmp_path / "again.toml") == read
    frame = pl.DataFrame({"sex": ["F", "M"] * 25, "w": [150, 390, 90_000, None, 100] * 10})
    made = pk.release(frame, plan, randomness=pk.Seeded(2))
    assert set(made.table["w"].unique().to_list()) <= {100, 200, 400, None}
    made.save(tmp_path / "out")
    opened = pk.open_release(tmp_path / "out")
    assert opened.table["w"].equals(made.table["w"])
    assert opened.crosstab("sex", weights="w").counts.shape == (2,)
    assert "rounded at random" in (tmp_path / "out" / "README.txt").read_text().replace("\n", " ")


@pytest.mark.parametrize(
    ("points", "options", "words"),
    [
        ([1.0], {}, "two or more numbers that increase"),
        ([2.0, 1.0], {}, "two or more numbers that increase"),
        ([1.0, 1.0], {}, "two or more numbers that increase"),
        (["a", "b"], {}, "types integer and number"),
        ([1.0, 2.0], {"open": "up"}, "open = 'up' is unknown"),
        (list(range(5000)), {}, "at most 4,096"),
    ],
)
def test_points_that_cannot_be_are_refused(points, options, words):
    with pytest.raises(pk.SchemaError, match=words):
        pk.Attribute.pointed("w", points, **options)


def test_points_stay_out_of_bundles():
    attributes = [pk.Attribute("sex", ["F", "M"]), pk.Attribute.pointed("w", POINTS)]
    with pytest.raises(pk.SchemaError, match="rounded at random; leave it out"):
        pk.Schema(attributes, [pk.Bundle(["sex", "w"])])


def test_all_codes_fit_in_31_bits():
    for count in (2, 3, 100, 4096):
        points = Points(tuple(float(i) for i in range(count)))
        assert (count + 1) << points.bits < 2**31
        assert points.bits >= 17
