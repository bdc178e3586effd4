"""The audit comes close to the claim from below, and fails on pipelines that are a little wrong.

Keys are drawn from the seed of the tests instead of the operating system, so that a run can be repeated.
"""

import hashlib
import itertools
from dataclasses import replace

import numpy as np
import pytest

import pkanon as pk
from pkanon._audit.differential.verdict import CHECKS
from pkanon._blocks import Retention
from pkanon._release import pipeline
from pkanon._sample import Keystream
from pkanon._sample.keystream import block_stream

SCHEMA = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute("job", ["farmer", "nurse", "pilot"])])
PLAN = pk.plan(SCHEMA, records=1_000, epsilon=3, design="equal-rho")
FEW = 100
"""Small releases, where the large tables are to show the fault."""


@pytest.fixture(autouse=True)
def keys(monkeypatch, seed):
    """What the operating system gives: other bytes each time, the same ones in every run of the tests."""
    numbers = itertools.count()

    def urandom(size):
        return hashlib.shake_256(f"{seed} {next(numbers)}".encode()).digest(size)

    monkeypatch.setattr("pkanon._sample.keystream.os.urandom", urandom)


def failing(plan=PLAN, runs=FEW, rows=200_000):
    """The names of the checks that fail."""
    return {check.name for check in pk.audit(plan, runs=runs, rows=rows).checks if not check.passed}


def test_the_bound_is_close_to_the_claim_from_below():
    audit = pk.audit(PLAN, runs=1_000)
    row, whole, *others = audit.checks
    assert audit.passed
    assert 0.97 * PLAN.epsilon <= row.lower < row.measured
    assert 0.55 * PLAN.epsilon <= whole.lower < whole.measured  # 0.91 with the 4,000 releases that are the default
    assert [check.chance > 1e-3 for check in others] == [True] * 3


AGREEMENT = replace(
    PLAN,
    blocks=(
        pk.Agreement((pk.Unit(("sex",), (2,)), pk.Unit(("job",), (3,))), (2**61, 2**61, 2**61, 2**64 - 3 * 2**61), 64),
    ),
)
MATRIX = pk.plan(
    SCHEMA,
    records=1_000,
    matrices={
        "sex": pk.TransitionMatrix([[0.8, 0.2], [0.3, 0.7]]),
        "job": pk.TransitionMatrix([[0.6, 0.3, 0.1], [0.2, 0.6, 0.2], [0.2, 0.3, 0.5]]),
    },
)
BUNDLE = pk.plan(
    pk.Schema(
        [
            pk.Attribute.binned("age", start=0, stop=40, width=20, open="both"),
            pk.Attribute("degree", ["no", "yes"], missing="value"),
            pk.Attribute.ranged("rooms", 1, 3, other=9),
            pk.Attribute("id", role="id"),
        ],
        bundles=[pk.Bundle(("age", "degree"), forbid=[{"age": ["<0"], "degree": ["yes"]}])],
    ),
    records=1_000,
    epsilon=2,
    design="joint",
    hide_count="9/10",
)


@pytest.mark.parametrize("plan", [AGREEMENT, MATRIX, BUNDLE], ids=["agreement", "matrix", "bundle"])
def test_every_kind_of_block_is_audited(plan):
    audit = pk.audit(plan, runs=FEW, rows=100_000)
    assert audit.passed
    assert 0.85 * plan.epsilon <= audit.checks[0].lower < audit.checks[0].measured
    assert bool(audit.left_out) == (plan is BUNDLE)


def with_rho(step):
    """Retention that keeps a value with a probability that is higher by ``step`` than its block says."""
    honest = Retention.apply

    def apply(self, columns, words):
        wrong = replace(self, replace=self.replace - round(step * 2**self.width / self.unit.size))
        return honest(wrong, columns, words)

    return apply


def test_less_randomness_than_claimed_is_noticed(monkeypatch):
    monkeypatch.setattr(Retention, "apply", with_rho(0.02))
    assert failing(rows=1_000_000) == {"epsilon of a row", "transition probabilities"}  # epsilon is above the claim


def test_more_randomness_than_claimed_is_noticed(monkeypatch):
    monkeypatch.setattr(Retention, "apply", with_rho(-0.02))
    assert failing() == {"transition probabilities"}  # no privacy is lost, and estimates would be wrong


@pytest.mark.parametrize("skipped", [0, 1])
def test_a_column_that_is_not_randomised_is_noticed(monkeypatch, skipped):
    honest = pipeline.randomise

    def randomise(blocks, columns, source, *, out, **options):
        honest(blocks, columns, source, out=out, **options)
        out[skipped][:] = columns[skipped]

    monkeypatch.setattr(pipeline, "randomise", randomise)
    assert {"epsilon of a row", "transition probabilities"} <= failing()


def test_columns_that_share_their_bits_are_noticed(monkeypatch):
    honest = Keystream.words

    def words(self, stream, start, count, width):
        return honest(self, block_stream(0, 0, 0) if stream == block_stream(1, 0, 0) else stream, start, count, width)

    monkeypatch.setattr(Keystream, "words", words)
    assert "transition probabilities" in failing()


def in_place(rows, source):
    return np.arange(rows)


def backwards(rows, source):
    return np.arange(rows)[::-1]


HONEST = pipeline.draw_order


def in_pieces(rows, source):
    """A shuffle inside each piece of 2^15 rows: small tables are shuffled well."""
    return np.concatenate([start + HONEST(min(2**15, rows - start), source) for start in range(0, rows, 2**15)])


def in_pairs(rows, source):
    """Rows 2i and 2i + 1 stay side by side."""
    pairs = HONEST(rows // 2, source)
    return np.stack([2 * pairs, 2 * pairs + 1], 1).ravel()


@pytest.mark.parametrize(
    ("order", "noticed"),
    [
        (in_place, {"order of a large table", "order of two rows"}),
        (backwards, {"order of a large table", "order of two rows"}),
        (in_pieces, {"order of a large table"}),
        (in_pairs, {"order of a large table", "order of two rows"}),
    ],
)
def test_a_shuffle_that_is_missing_or_weak_is_noticed(monkeypatch, order, noticed):
    monkeypatch.setattr(pipeline, "draw_order", order)
    assert failing(runs=200) == noticed


def test_a_key_that_is_always_the_same_is_noticed(monkeypatch):
    monkeypatch.setattr("pkanon._sample.keystream.os.urandom", bytes)
    assert failing() & {"epsilon of a release", "order of two rows"}


def test_the_rate_of_false_alarms_is_shared_by_all_checks():
    assert len(pk.audit(PLAN, runs=100, rows=1_000).checks) == CHECKS
