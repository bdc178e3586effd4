"""Several releases of the same table: what adds up, and which rows count."""

import polars as pl
import pytest

import pkanon as pk

SCHEMA = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute("edu", ["none", "degree"])])
FRAME = pl.DataFrame({"sex": ["F", "M"] * 50, "edu": ["none", "degree", "degree", "none"] * 25})
HIDDEN = pk.plan(SCHEMA, records=50, epsilon=10, hide_count="1/1000")


def test_the_epsilon_of_hidden_counts_adds_up():
    assert HIDDEN.epsilon_unbounded == pytest.approx(10, abs=1e-3)  # what was asked for is about being in the table
    assert HIDDEN.epsilon < 3.2
    twice = pk.compose([HIDDEN, HIDDEN])
    assert twice.epsilon_unbounded == pytest.approx(2 * HIDDEN.epsilon_unbounded)
    assert 19.99 < twice.epsilon_unbounded <= 20
    assert twice.epsilon_unbounded_text == "20"
    assert twice.epsilon == pytest.approx(2 * HIDDEN.epsilon)  # neighbours of one count, as a certificate states it


def test_one_public_count_shows_who_came_or_went():
    public = pk.plan(SCHEMA, records=50, epsilon=2)
    assert pk.compose([public, public]).epsilon_unbounded is None
    mixed = pk.compose([HIDDEN, public])
    assert (mixed.epsilon_unbounded, mixed.epsilon_unbounded_text) == (None, "none")
    assert mixed.epsilon == pytest.approx(HIDDEN.epsilon + public.epsilon)


def test_releases_count_with_the_rows_they_have():
    plan = pk.plan(SCHEMA, records=400, k=3)
    fewer = pk.release(FRAME, plan, allow_fewer=True)
    assert pk.compose([fewer]).k == fewer.certificate.k == pytest.approx(float(plan.k_for(100)))
    assert pk.compose([plan, fewer]).k == fewer.certificate.k
    joined = 1 + 99 * plan.anonymity_ratio**2
    assert pk.compose([plan, fewer], linked=True).k == pytest.approx(float(joined))


def test_a_row_without_a_partner_shows_whose_it_is():
    """99 of 100 people are in the second release, too: the hundredth has the only row that cannot be joined."""
    plan = pk.plan(SCHEMA, records=99, k=3)
    all_of_them, but_one = pk.release(FRAME, plan), pk.release(FRAME.head(99), plan)
    joined = pk.compose([all_of_them, but_one], linked=True)
    assert (joined.k, joined.k_text, joined.uneven) == (1, "1", True)
    assert joined.epsilon == pytest.approx(2 * plan.epsilon)
    apart = pk.compose([all_of_them, but_one])
    assert (apart.k, apart.uneven) == (but_one.certificate.k, False)
    same = pk.compose([but_one, but_one, plan], linked=True)
    assert (same.k, same.uneven) == (pytest.approx(float(1 + 98 * plan.anonymity_ratio**3)), False)


def test_hidden_counts_differ_by_chance():
    plan = pk.plan(SCHEMA, records=100, epsilon=3, hide_count="99/100")
    first = pk.release(FRAME, plan)
    other = next(made for made in (pk.release(FRAME, plan) for _ in range(200)) if made.rows != first.rows)
    joined = pk.compose([first, other], linked=True)
    rows = min(first.rows, other.rows)
    assert (joined.k, joined.uneven) == (pytest.approx(float(1 + max(rows - 1, 0) * plan.anonymity_ratio**2)), False)


def test_a_hidden_count_that_fell_short_counts():
    plan = pk.plan(SCHEMA, records=100, epsilon=3, hide_count="99/100")
    release = next(made for made in (pk.release(FRAME, plan) for _ in range(200)) if made.rows < 100)
    total = pk.compose([plan, release])
    assert total.k == release.certificate.k < plan.k
    # the bound on the true count is the plan's, whatever was released
    assert total.epsilon_unbounded == pytest.approx(2 * plan.epsilon_unbounded)


def test_a_release_that_claims_nothing_composes_to_nothing():
    plan = pk.plan(SCHEMA, records=100, k=3)
    seeded = pk.release(FRAME, plan, randomness=pk.Seeded(1))
    total = pk.compose([plan, seeded])
    assert (total.k, total.epsilon, total.epsilon_unbounded) == (None, None, None)
    assert total.void == seeded.certificate.void
