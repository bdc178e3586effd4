"""The agreement block (docs/why/theory.md 8): its claims by dense matrices and brute force, its sampler by words."""

import copy
import itertools
import random
from bisect import bisect_right
from fractions import Fraction
from math import inf, prod

import numpy as np
import polars as pl
import pytest
from agreement import cells, eigenvalue, on
from blocks import through
from brute import highest_likelihood_ratio, highest_posterior
from dense import declared_words, forbidden, naive_anonymity_ratio, naive_epsilon_ratio, unit_of
from listed import DTYPES, ByStream
from scipy.stats import binom

import pkanon as pk
from pkanon._blocks import Agreement, Retention
from pkanon._sample import randomise
from pkanon._sample.keystream import Keystream, Seeded, block_stream


def agreement(sizes, weights, width=16, names="abcd"):
    units = tuple(unit_of(size, names=name) for size, name in zip(sizes, names))
    total = sum(weights)
    sets = [weight * 2**width // total for weight in weights]
    sets[-1] += 2**width - sum(sets)
    return Agreement(units, tuple(sets), width)


def plan_of(*blocks, records=3):
    units = [unit for block in blocks for unit in block.units]
    sizes = {name: size for unit in units for name, size in zip(unit.attributes, unit.sizes)}
    schema = pk.Schema([pk.Attribute.ranged(name, 1, size) for name, size in sizes.items()])
    return pk.Plan(schema, blocks, records)


EXAMPLES = {
    "2 x 2": agreement((2, 2), (1, 2, 3, 10)),
    "2 x 3": agreement((2, 3), (2, 1, 5, 8)),
    "3 x 3": agreement((3, 3), (4, 3, 1, 8)),
    "2 x 3 x 4": agreement((2, 3, 4), (1, 2, 3, 4, 5, 6, 7, 36)),
}


@pytest.mark.parametrize("block", EXAMPLES.values(), ids=EXAMPLES)
def test_ratios_against_the_dense_matrix(block):
    dense = declared_words(block)
    assert all(sum(row) == 1 for row in dense)
    assert naive_epsilon_ratio(dense) == block.epsilon_ratio
    assert naive_anonymity_ratio(dense) == block.anonymity_ratio == 1 / block.epsilon_ratio**2  # docs/why/theory.md 5


@pytest.mark.parametrize(("name", "most"), [("2 x 2", 3), ("2 x 3", 2)])
def test_k_and_epsilon_by_brute_force(name, most):
    block = EXAMPLES[name]
    for records in range(2, most + 1):
        plan = plan_of(block, records=records)
        assert highest_posterior(declared_words(block), records) == 1 / plan.k_for(records)
        assert highest_likelihood_ratio(declared_words(block), records) == plan.epsilon_ratio


def test_random_agreement_blocks_have_ar_exp_minus_two_eps(seed):
    draw = random.Random(seed)
    for _ in range(40):
        sizes = draw.choice([(2, 2), (2, 3), (3, 4), (2, 2, 3)])
        block = agreement(sizes, [draw.randint(1, 30) for _ in range(2 ** len(sizes))])
        assert naive_anonymity_ratio(declared_words(block)) == 1 / naive_epsilon_ratio(declared_words(block)) ** 2


@pytest.mark.parametrize("block", EXAMPLES.values(), ids=EXAMPLES)
def test_the_sampler_has_the_declared_matrix(block):
    """Every 16-bit word of draw 0; for each other draw one word of every digit, each worth q words.

    A rejected word asks for the next round; there it is given the digit that round 0 refused, so the
    weight of a digit is q out of (V - 1) q accepted words: 1/(V - 1), exactly.
    """
    digits = [range(unit.size - 1) if unit.size > 2 else [None] for unit in block.units]
    counts = np.zeros((len(cells(block)),) * 2, object)
    streams = {block_stream(0, 0, 0): np.arange(2**16)}
    for number, cell in enumerate(cells(block)):
        for chosen in itertools.product(*digits):
            draws = [(digit, unit.size) for digit, unit in zip(chosen, block.units) if digit is not None]
            for draw, (digit, size) in enumerate(draws, start=1):
                q = 2**16 // (size - 1)
                first = np.full(2**16, digit * q + digit)  # somewhere inside the digit's q words
                if q * (size - 1) < 2**16:
                    first[::2] = 2**16 - 1  # too high for any digit: rejected
                streams[block_stream(0, draw, 0)] = first
                streams[block_stream(0, draw, 1)] = np.full(2**16, (digit + 1) * q - 1)
            columns = [np.full(2**16, code, np.uint8) for code in cell]
            out = [np.empty_like(column) for column in columns]
            randomise([block], columns, ByStream(streams), out=out, piece=1000, threads=1)
            sizes = [unit.size for unit in block.units]
            released = np.ravel_multi_index([column.astype(int) for column in out], sizes)
            counts[number] += np.bincount(released, minlength=len(cells(block)))
    combinations = prod(map(len, digits))
    assert [[Fraction(int(c), 2**16 * combinations) for c in row] for row in counts] == declared_words(block)


def test_through_a_plan_with_other_blocks(seed):
    block = EXAMPLES["2 x 3 x 4"]
    other = Retention(unit_of(5, names="e"), 2**12, 16)
    plan = plan_of(other, block, records=1000)
    assert plan.anonymity_ratio == block.anonymity_ratio * other.anonymity_ratio
    assert plan.k_for(1000) == 1 + 999 * block.anonymity_ratio * other.anonymity_ratio
    assert plan.epsilon_ratio == block.epsilon_ratio * other.epsilon_ratio
    assert plan.rho["b"] == float(eigenvalue(block, ["b"]))
    assert plan.digest == plan_of(other, block, records=1000).digest

    source = Keystream(Seeded(seed).key())
    columns = [np.arange(3000, dtype=np.uint8) % unit.size for unit in plan.units]
    results = []
    for piece, threads in ((None, 1), (7, 1), (64, 3)):
        out = [np.empty_like(column) for column in columns]
        randomise(plan.blocks, columns, source, out=out, piece=piece, threads=threads)
        results.append(np.stack(out))
    assert all((result == results[0]).all() for result in results)
    assert all(column.max() < unit.size for column, unit in zip(results[0], plan.units))


@pytest.mark.parametrize("block", EXAMPLES.values(), ids=EXAMPLES)
def test_predictions_against_the_dense_matrix(block):
    plan = plan_of(block, records=50)
    names = [unit.attributes[0] for unit in block.units]
    for count in range(1, len(names) + 1):
        for inside in itertools.combinations(names, count):
            dense = on(block, inside)
            lengths = (np.linalg.inv(dense) ** 2).sum(axis=1)
            per_record = dense @ lengths - 1  # h(u), the same for every u by symmetry
            prediction = plan.predict(*inside)
            np.testing.assert_allclose(per_record, prediction.rmse**2 * prediction.cells / 50, rtol=1e-10)
            assert prediction.exact


def test_survives_a_plan_file_entry():
    block = EXAMPLES["2 x 3"]
    assert Agreement.from_json(block.to_json(block.units), block.units) == block


def test_plain_sentences_do_not_call_it_one_attribute():
    # 2 x 3 combinations, and not the "2 x 2 transition probabilities" of its first unit
    assert "2 x 2" not in plan_of(EXAMPLES["2 x 3"]).explain()


# --- units that are bundles, with and without forbidden combinations --------------------------------------------------


def of_units(*units, weights, width=32):
    total = sum(weights)
    sets = [weight * 2**width // total for weight in weights]
    sets[-1] += 2**width - sum(sets)
    return Agreement(units, tuple(sets), width)


BUNDLES = {
    "a bundle and an attribute": of_units(unit_of(2), unit_of(2, 3, names="bc"), weights=(3, 2, 5, 11)),
    "forbidden combinations and an attribute": of_units(
        unit_of(2, 3, forbid=(((1,), (0, 2)),)), unit_of(3, names="c"), weights=(2, 5, 3, 13)
    ),
    "forbidden combinations in both": of_units(
        unit_of(2, 3, forbid=(((1,), (0, 2)),)),
        unit_of(3, 2, names="cd", forbid=(((1,), (1,)),)),
        weights=(1, 4, 2, 9),
    ),
    "a bundle of three between two attributes": of_units(
        unit_of(2),
        unit_of(2, 2, 2, names="bcd", forbid=(((0,), (1,), ()),)),
        unit_of(3, names="e"),
        weights=(2, 1, 3, 4, 1, 5, 6, 30),
    ),
    "negative eigenvalues": of_units(
        unit_of(2, 2, forbid=(((1,), (1,)),)), unit_of(3, names="c"), weights=(20, 3, 2, 1)
    ),
}


def people_of(block):
    """The codes of every attribute, for each cell in the order of the block's matrix."""
    allowed = [
        [c for c in itertools.product(*map(range, unit.sizes)) if not forbidden(unit, c)] for unit in block.units
    ]
    return [dict(zip(block.attributes, itertools.chain(*combination))) for combination in itertools.product(*allowed)]


class Dense:
    """The matrix of a block on ``names`` (one axis each, in this order), by adding up its cells."""

    def __init__(self, block, names):
        sizes = {name: size for unit in block.units for name, size in zip(unit.attributes, unit.sizes)}
        self.names, self.shape = names, [sizes[name] for name in names]
        people = people_of(block)
        number = [int(np.ravel_multi_index([person[name] for name in names], self.shape)) for person in people]
        self.possible = sorted(set(number))
        place = [self.possible.index(cell) for cell in number]
        whole = np.array([[float(entry) for entry in row] for row in declared_words(block)])
        self.a = np.full((len(self.possible),) * 2, np.nan)
        for row, cell in zip(whole, place):
            summed = np.bincount(place, weights=row, minlength=len(self.possible))
            if not np.isnan(self.a[cell, 0]):  # the rest of a person's row does not matter
                np.testing.assert_allclose(self.a[cell], summed, atol=1e-13)
            self.a[cell] = summed
        self.b = np.linalg.inv(self.a)

    @property
    def axes(self):
        return {name: axis for axis, name in enumerate(self.names)}

    def counts(self, values, elsewhere=0.0):
        flat = np.full(prod(self.shape), elsewhere)
        flat[self.possible] = values
        return flat.reshape(self.shape)

    def spread(self, kept):
        """``[v, j]``: the inverse on the marginal of ``kept``, at the marginal values of v and j."""
        codes = np.unravel_index(self.possible, self.shape)
        mine = [tuple(codes[self.names.index(name)][i] for name in kept) for i in range(len(self.possible))]
        return self.b @ np.array([[one == other for other in mine] for one in mine], float)

    def check(self, got, expected, dense):
        flat = np.broadcast_to(got, self.shape).reshape(-1)[self.possible]
        scale = max(1.0, float(np.abs(dense).max()))
        np.testing.assert_allclose(flat, expected, rtol=1e-10, atol=1e-10 * scale)


def orders_of(block, most=2):
    """Every subset of attributes, in up to ``most`` orders: first as declared, then shuffled."""
    draw = random.Random(7)
    for count in range(1, len(block.attributes) + 1):
        for names in itertools.combinations(block.attributes, count):
            orders = list(itertools.permutations(names))
            yield from [orders[0], *draw.sample(orders[1:], min(most - 1, len(orders) - 1))]


@pytest.mark.parametrize("block", BUNDLES.values(), ids=BUNDLES)
def test_passes_on_bundles(block, seed):
    draw = np.random.default_rng(seed)
    for names in orders_of(block, most=4):
        book = Dense(block, names)
        x = draw.uniform(0, 3, len(book.possible))
        for name, matrix in {
            "forward": book.a.T,
            "forward_transpose": book.a,
            "inverse": book.b.T,
            "inverse_transpose": book.b,
            "squared_inverse": (book.b**2).T,
        }.items():
            # weights of cells that nobody can have do not matter
            counts = book.counts(x, 17.0 if name.endswith("transpose") else 0.0)
            before = counts.copy()
            book.check(through(block, name, counts, book.axes), matrix @ x, matrix)
            assert (counts == before).all()


def nested(block, names):
    """Marginals for :meth:`product_inverse`, each inside the one before: what estimates of a table ask for."""
    smaller = [c for count in range(len(names)) for c in itertools.combinations(names, count)]
    yield (names, names, names)
    for kept in smaller:  # each of them splits a bundle if it can
        yield (names, kept)
        yield (kept, kept)
        yield (names, kept, kept)
        yield (names, names, kept)
    for first, second in itertools.combinations(smaller, 2):
        if set(first) < set(second):
            yield (second, first)
            yield (names, second, first)


@pytest.mark.parametrize("block", BUNDLES.values(), ids=BUNDLES)
def test_products_of_inverses_on_bundles(block, seed):
    draw = np.random.default_rng(seed)
    for names in orders_of(block):
        book = Dense(block, names)
        x = draw.uniform(-1, 2, len(book.possible))
        spread = {c: book.spread(c) for count in range(len(names) + 1) for c in itertools.combinations(names, count)}
        for kept in nested(block, names):
            dense = np.prod([spread[k] for k in kept], axis=0)
            got = block.product_inverse(book.counts(x), book.axes, *kept)
            book.check(got, dense.T @ x, dense)


def test_marginals_of_one_bundle_that_are_not_nested_are_refused(seed):
    """Nothing in the package asks for them, but the contract of Block.product_inverse has them."""
    block = BUNDLES["a bundle and an attribute"]
    book = Dense(block, ("b", "c"))
    x = np.random.default_rng(seed).uniform(0, 3, len(book.possible))
    with pytest.raises(pk.PlanError):
        block.product_inverse(book.counts(x), book.axes, ("b",), ("c",))


@pytest.mark.parametrize("block", BUNDLES.values(), ids=BUNDLES)
def test_what_one_row_and_one_person_add_on_bundles(block):
    for names in orders_of(block, most=3):
        book = Dense(block, names)
        diagonal = np.diag(book.b)
        book.check(block.inverse_diagonal(names), diagonal, diagonal)
        for power in (2, 3, 4):
            moment = (book.a * (book.b**power).T).sum(axis=1)
            book.check(block.own_moment(names, power), moment, moment)


@pytest.mark.parametrize("block", BUNDLES.values(), ids=BUNDLES)
def test_error_factors_on_bundles(block):
    plan = plan_of(block, records=50)
    for names in orders_of(block, most=3):
        book = Dense(block, names)
        factors = book.a @ (book.b**2).sum(axis=1)  # h(u) + 1
        assert block.error_factor(names) == pytest.approx(factors.max(), rel=1e-10)
        prediction = plan.predict(*names)
        assert prediction.cells == len(book.possible)
        assert prediction.rmse**2 * prediction.cells / 50 == pytest.approx(factors.max() - 1, rel=1e-10)
        assert block.error_is_exact(names) or factors.min() <= factors.max()
        if block.error_is_exact(names):
            np.testing.assert_allclose(factors, factors[0], rtol=1e-10)
    assert block.error_factor([]) == 1.0


@pytest.mark.parametrize("block", [*EXAMPLES.values(), *BUNDLES.values()], ids=[*EXAMPLES, *BUNDLES])
def test_eigenvalues_are_exact(block):
    for mask, value in enumerate(block.eigenvalues):
        inside = [unit.attributes[0] for bit, unit in enumerate(block.units) if mask >> bit & 1]
        assert value == eigenvalue(block, inside)
    # and they are those of the dense matrix, as often as docs/why/theory.md 7 says
    expected = [
        float(value)
        for mask, value in enumerate(block.eigenvalues)
        for _ in range(prod(unit.size - 1 for bit, unit in enumerate(block.units) if mask >> bit & 1))
    ]
    found = np.linalg.eigvalsh(np.array(declared_words(block), float))
    np.testing.assert_allclose(found, sorted(expected), atol=1e-13)
    for bit, unit in enumerate(block.units):
        assert all(block.rho(name) == float(block.eigenvalues[1 << bit]) for name in unit.attributes)


@pytest.mark.parametrize("block", BUNDLES.values(), ids=BUNDLES)
def test_ratios_on_bundles(block):
    dense = declared_words(block)
    assert naive_epsilon_ratio(dense) == block.epsilon_ratio
    assert naive_anonymity_ratio(dense) == block.anonymity_ratio


# --- which set survives ------------------------------------------------------------------------------------------------


def split_words(draw, count, width, empty=0.4):
    """Whole numbers that sum to 2^width, some of them zero and some of them one."""
    weights = [0.0 if draw.random() < empty else draw.expovariate(1) for _ in range(count)]
    weights[draw.randrange(count)] += 1.0
    sets = [min(int(w * 2**width / sum(weights)), 2**width) for w in weights]
    for place in range(0, count, 5):
        sets[place] = min(sets[place], 1)
    largest = max(range(count), key=sets.__getitem__)
    sets[largest] += 2**width - sum(sets)
    return tuple(sets)


@pytest.mark.parametrize("width", [16, 32, 64])
@pytest.mark.parametrize("units", [1, 2, 3, 7, 8, 9, 12])
def test_the_surviving_set_is_found_by_its_word(width, units, seed):
    """At and around every threshold, the first and the last words, the borders of the lookup table, and many others."""
    draw = random.Random(seed * 100 + width + units)
    names = [f"u{i}" for i in range(units)]
    for empty in (0.0, 0.4, 0.99):
        sets = split_words(draw, 2**units, width, empty)
        block = Agreement(tuple(unit_of(2, names=[name]) for name in names), sets, width)
        ends = list(itertools.accumulate(sets))
        near = {end + step for end in ends for step in (-2, -1, 0, 1)}
        near |= {(i << (width - 12)) + step for i in range(2**12) for step in (-1, 0)}
        near |= {0, 1, 2, 2**width - 1, 2**width - 2, *(draw.randrange(2**width) for _ in range(2000))}
        words = sorted(word for word in (range(2**16) if width == 16 else near) if 0 <= word < 2**width)
        expected = [bisect_right(ends, word) for word in words]  # the first whose cumulative count exceeds it
        got = block._survivors(np.array(words, DTYPES[width]))
        assert got.tolist() == expected
        assert all(sets[mask] for mask in set(expected))
        if width == 16:
            assert np.bincount(got, minlength=2**units).tolist() == list(sets)


def released_from(block, columns, streams=None, source=None):
    out = [np.empty_like(column) for column in columns]
    randomise([block], columns, source or ByStream(streams), out=out, threads=1)
    return out


@pytest.mark.parametrize("units", [1, 7, 8, 12])
def test_all_or_nothing(units, seed):
    """Only the full set has words: nothing changes. Only the empty one: everything does, to every other value alike."""
    members = tuple(unit_of(2 + i % 3, names=[f"u{i}"]) for i in range(units))
    draw = np.random.default_rng(seed)
    columns = [draw.integers(0, unit.size, 4000).astype(np.uint8) for unit in members]
    for mask, changed in ((2**units - 1, False), (0, True)):
        sets = tuple(2**64 if place == mask else 0 for place in range(2**units))
        got = released_from(Agreement(members, sets), columns, source=Keystream(Seeded(seed).key()))
        for before, after, unit in zip(columns, got, members):
            assert (before != after).all() if changed else (before == after).all()
            assert after.max() < unit.size


def test_sets_without_words():
    """A probability of zero rules values out: nothing bounds eps, and k is 1."""
    block = Agreement((unit_of(2), unit_of(3, names="b")), (0, 2**14, 2**14, 2**15), 16)
    assert block.epsilon_ratio is None
    assert naive_epsilon_ratio(declared_words(block)) is None
    assert block.anonymity_ratio == naive_anonymity_ratio(declared_words(block)) == 0
    plan = plan_of(block, records=1000)
    assert (plan.k, plan.epsilon) == (1.0, inf)
    for names in orders_of(block):
        book = Dense(block, names)
        x = np.arange(1.0, 1 + len(book.possible))
        book.check(block.inverse(book.counts(x), book.axes), book.b.T @ x, book.b)


def test_a_table_of_which_nothing_is_left():
    """q = (0, 1/4, 1/4, 1/2): lam_a = lam_b = 1/2 and lam_ab = 0, so that single tables are there and their pair is not."""
    block = Agreement((unit_of(2), unit_of(2, names="b")), (0, 2**14, 2**14, 2**15), 16)
    assert block.eigenvalues == (1, Fraction(1, 2), Fraction(1, 2), 0)
    assert block.error_factor(["a"]) == pytest.approx(2.5)  # (1 + 1/lam^2)/2
    np.testing.assert_allclose(block.inverse(np.array([3.0, 1.0]), {"a": 0}), [4.0, 0.0])
    assert block.error_factor(["a", "b"]) == inf
    axes = {"a": 0, "b": 1}
    for name in ("inverse", "inverse_transpose", "squared_inverse"):
        with pytest.raises(pk.PlanError, match="Nothing is left of a x b"):
            through(block, name, np.ones((2, 2)), axes)
    for method in (lambda: block.inverse_diagonal(("a", "b")), lambda: block.own_moment(("a", "b"), 2)):
        with pytest.raises(pk.PlanError, match="Nothing is left"):
            method()
    np.testing.assert_allclose(block.forward(np.ones((2, 2)), axes), np.ones((2, 2)))


# --- rejected words ----------------------------------------------------------------------------------------------------


def test_a_rejected_word_is_drawn_again_until_it_fits():
    """V - 1 = 2^15 + 1 of 2^16 words: each digit has one word, and nearly half of all words are refused."""
    size = 2**15 + 2
    block = Agreement((unit_of(size),), (2**15, 2**15), 16)
    rows = 2**16
    rounds = [
        np.arange(rows)[::-1].copy(),
        np.where(np.arange(rows) % 3 == 0, 2**16 - 1, np.arange(rows) // 4),
        np.where(np.arange(rows) % 5 == 0, size - 1, 7),  # size - 1 is the lowest word that is refused
        np.full(rows, size - 2),  # the highest digit there is
    ]
    for code in (0, 7, size - 1):
        survives = np.arange(rows) % 2
        streams = {block_stream(0, 0, 0): np.where(survives, 2**15, 2**15 - 1)}
        streams |= {block_stream(0, 1, number): words for number, words in enumerate(rounds)}
        (got,) = released_from(block, [np.full(rows, code, np.uint16)], streams)
        expected = []
        for row in range(rows):
            digit = next(int(words[row]) for words in rounds if words[row] < size - 1)
            expected.append(code if survives[row] else digit + (digit >= code))
        assert got.tolist() == expected


def test_who_survives_needs_no_other_round():
    size = 2**15 + 2
    block = Agreement((unit_of(size),), (2**15, 2**15), 16)
    streams = {block_stream(0, 0, 0): np.full(100, 2**16 - 1), block_stream(0, 1, 0): np.full(100, 2**16 - 1)}
    (got,) = released_from(block, [np.arange(100, dtype=np.uint16)], streams)  # round 1 is not listed
    assert (got == np.arange(100)).all()


# --- plan files --------------------------------------------------------------------------------------------------------


def test_every_plan_file_entry_survives():
    for block in [*EXAMPLES.values(), *BUNDLES.values()]:
        assert Agreement.from_json(block.to_json(block.units), block.units) == block
        plan = plan_of(block, records=9) if block in EXAMPLES.values() else None
        assert plan is None or pk.Plan.from_json(plan.to_json()) == plan


DAMAGE = {
    "a number too few": lambda entry: entry["sets"].pop(),
    "a number too many": lambda entry: entry["sets"].append("0"),
    "negative": lambda entry: entry["sets"].__setitem__(0, "-5"),
    "sum": lambda entry: entry["sets"].__setitem__(0, str(int(entry["sets"][0]) + 1)),
    "sum below": lambda entry: entry["sets"].__setitem__(0, str(int(entry["sets"][0]) - 1)),
    "a number that is no text": lambda entry: entry["sets"].__setitem__(0, int(entry["sets"][0])),
    "a fraction": lambda entry: entry["sets"].__setitem__(0, "1.5"),
    "unknown key": lambda entry: entry.__setitem__("signs", []),
    "no sets": lambda entry: entry.pop("sets"),
    "unit that is not there": lambda entry: entry["units"].__setitem__(0, 2),
    "negative unit": lambda entry: entry["units"].__setitem__(0, -2),
    "unit by name": lambda entry: entry["units"].__setitem__(0, "a"),
    "unit that is a truth value": lambda entry: entry["units"].__setitem__(0, False),
    "unit twice": lambda entry: entry["units"].__setitem__(0, 1),
    "units in another order": lambda entry: entry["units"].reverse(),
    "no units": lambda entry: entry.update(units=[], sets=[str(2**16)]),
    "width": lambda entry: entry.__setitem__("width", 24),
    "width as text": lambda entry: entry.__setitem__("width", "16"),
    "another width": lambda entry: entry.__setitem__("width", 32),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damaged_plan_files_are_refused(damage):
    data = plan_of(EXAMPLES["2 x 3"], records=9).to_json()
    damaged = copy.deepcopy(data)
    damage(damaged["blocks"][0])
    assert repr(damaged) != repr(data)
    with pytest.raises(pk.PlanError):
        pk.Plan.from_json(damaged)


def test_negative_numbers_that_sum_up_are_refused():
    with pytest.raises(pk.PlanError, match="without negatives"):
        Agreement((unit_of(2),), (-1, 2**16 + 1), 16)


def test_twelve_units_are_the_most():
    def one(count):
        sets = (2**64 - 2**count + 1,) + (1,) * (2**count - 1)
        return Agreement(tuple(unit_of(2, names=[f"u{i}"]) for i in range(count)), sets)

    block = one(12)
    assert Agreement.from_json(block.to_json(block.units), block.units) == block
    with pytest.raises(pk.PlanError, match="1 to 12 units, not 13"):
        one(13)
    with pytest.raises(pk.PlanError, match="1 to 12 units, not 0"):
        Agreement((), (2**64,))


def test_a_unit_of_more_values_than_words_is_refused():
    Agreement((unit_of(2**16 + 1),), (2**15, 2**15), 16)
    with pytest.raises(pk.PlanError, match="more values than its words"):
        Agreement((unit_of(2**16 + 2),), (2**15, 2**15), 16)


# --- through a whole release -------------------------------------------------------------------------------------------

ALPHA = 1e-9
"""Per cell, as in tests/statistical/test_wiring.py: 18 records times some 60 cells make a thousand tails."""
ROWS = 200_000
WIRED = of_units(
    unit_of(2, names=["sex"]),
    unit_of(2, 2, names=["age", "degree"], forbid=(((0,), (1,)),)),
    unit_of(3, names=["town"]),
    weights=(5, 3, 4, 9, 2, 7, 6, 21),
    width=64,
)


def lowest_tail(block, seed, spoil=lambda codes: codes):
    """The smallest tail over all cells of all tables, of releases by ``block`` that should follow WIRED."""
    law = np.array([[float(entry) for entry in row] for row in declared_words(WIRED)])
    people = people_of(WIRED)
    sizes = {name: size for unit in WIRED.units for name, size in zip(unit.attributes, unit.sizes)}
    tables = [c for count in range(1, 5) for c in itertools.combinations(WIRED.attributes, count)]
    lowest = 1.0
    for number, person in enumerate(people):
        table = pl.DataFrame({name: np.full(ROWS, code + 1) for name, code in person.items()})
        release = pk.release(table, plan_of(block, records=ROWS), randomness=pk.Seeded(seed * 100 + number))
        codes = spoil(release.codes)
        for names in tables:
            shape = [sizes[name] for name in names]
            cell = np.ravel_multi_index([[other[name] for other in people] for name in names], shape)
            p = np.bincount(cell, weights=law[number], minlength=prod(shape))
            seen = np.bincount(
                np.ravel_multi_index([codes[n].astype(int) for n in names], shape), minlength=prod(shape)
            )
            tails = 2 * np.minimum(binom.cdf(seen, ROWS, p), binom.sf(seen - 1, ROWS, p))  # 0 where p is and rows are
            lowest = min(lowest, float(np.where((p == 0) & (seen == 0), 1.0, tails).min()))
        if lowest < ALPHA:
            break
    return lowest


def test_every_cell_of_a_release_has_its_binomial_law(seed):
    assert lowest_tail(WIRED, seed) >= ALPHA


def moved(first, second, share):
    """WIRED with a share of all words moved from one set to another."""
    sets = list(WIRED.sets)
    sets[first] -= int(share * 2**64)
    sets[second] += int(share * 2**64)
    return Agreement(WIRED.units, tuple(sets))


MUTANTS = {
    "a little more kept": moved(0, 7, 0.02),
    "a little less kept": moved(7, 0, 0.02),
    "two sets swapped": Agreement(WIRED.units, tuple(WIRED.sets[i] for i in (0, 2, 1, 3, 4, 5, 6, 7))),
    "two attributes kept together more often": moved(1, 5, 0.02),
}


@pytest.mark.parametrize("block", MUTANTS.values(), ids=MUTANTS)
def test_a_mechanism_that_is_a_little_different_is_rejected(block, seed):
    assert lowest_tail(block, seed) < ALPHA


def test_columns_that_survive_independently_are_rejected(seed):
    """Every column alone is as it should be; only their common tables show that the sets are not those of the plan."""

    def apart(codes):  # rows of one private record are alike, so any order of one column is as good as any other
        return {**codes, "town": np.roll(codes["town"], 1)}

    assert lowest_tail(WIRED, seed, apart) < ALPHA
