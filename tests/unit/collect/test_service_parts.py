"""Parts of the service: rate limits that forget, tokens, settings that betray, k so far, and what a forged row can do."""

import itertools
import os

import numpy as np
import pytest
from plans import schema_of

import pkanon as pk
from pkanon._collect.admin import AdminToken, new_token, read_token
from pkanon._collect.limits import HOUR, RateLimit, forwarded_address, network, visitor
from pkanon._collect.standing import forged_row_moves, known_counts, standing
from pkanon._collect.store import Layout, open_store
from pkanon._collect.store.postgres import betraying_settings


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_an_address_has_its_share_and_gets_it_back():
    clock = Clock()
    limit = RateLimit(6, clock)
    assert [limit.wait("192.0.2.1") for _ in range(7)] == [0] * 6 + [11]
    assert limit.wait("192.0.2.2") == 0  # somebody else
    clock.now = 10.0
    assert limit.wait("192.0.2.1") == 0
    assert limit.wait("192.0.2.1") > 0


def test_the_salt_changes_every_hour_and_nothing_is_remembered():
    clock = Clock()
    limit = RateLimit(1, clock)
    assert limit.wait("192.0.2.1") == 0
    assert limit.wait("192.0.2.1") > 0
    salt = limit._salt
    clock.now = HOUR
    assert limit.wait("192.0.2.1") == 0
    assert limit._salt != salt
    assert len(limit._left) == 1


def test_addresses_are_kept_as_hashes_only():
    limit = RateLimit(5)
    limit.wait("192.0.2.77")
    assert "192.0.2.77" not in repr(vars(limit))
    assert all(len(name) == 16 for name in limit._left)


def test_a_network_counts_as_one():
    assert network("2001:db8:1:2:3:4:5:6") == network("2001:db8:1:2:ffff::1") == "2001:db8:1:2::/64"
    assert network("::ffff:192.0.2.1") == network("192.0.2.1") == "192.0.2.1"
    assert network("unix") == "unix"


@pytest.mark.parametrize(
    ("lines", "address"),
    [
        ([], ""), (["203.0.113.9"], "203.0.113.9"), (["198.51.100.1, 203.0.113.9"], "203.0.113.9"),
        (["198.51.100.1", "203.0.113.9"], "203.0.113.9"), (["203.0.113.9", "198.51.100.1, 198.51.100.2"], "198.51.100.2"),
    ],
)  # fmt: skip
def test_the_address_of_the_nearest_proxy_counts(lines, address):
    headers = [(b"host", b"x"), *((b"x-forwarded-for", line.encode()) for line in lines)]
    assert forwarded_address(headers) == address
    scope = {"headers": headers, "client": ("192.0.2.1", 1)}
    assert visitor(scope, behind_proxy=True) == (address or "192.0.2.1")
    assert visitor(scope, behind_proxy=False) == "192.0.2.1"


def test_no_limit_is_no_limit():
    limit = RateLimit(None)
    assert {limit.wait("192.0.2.1") for _ in range(1_000)} == {0}


def test_a_token_is_kept_as_its_hash():
    token = new_token()
    kept = AdminToken.of(token)
    assert token not in repr(kept)
    assert kept.fits(token)
    assert not kept.fits(token[:-1])
    assert len({new_token() for _ in range(100)}) == 100


def test_a_token_file_is_private_and_holds_a_token(tmp_path):
    path = tmp_path / "token"
    path.write_text(f"{new_token()}\n")
    os.chmod(path, 0o644)
    with pytest.raises(pk.RefusedError, match="chmod 600"):
        read_token(path)
    os.chmod(path, 0o600)
    assert len(read_token(path)) == 43
    path.write_text("short")
    with pytest.raises(pk.InputError, match="at least 20"):
        read_token(path)
    with pytest.raises(pk.InputError, match="Cannot read"):
        read_token(tmp_path / "absent")


HARMLESS = {
    "track_commit_timestamp": "off", "log_statement": "none", "log_min_duration_statement": "-1",
    "log_min_duration_sample": "-1", "log_transaction_sample_rate": "0", "log_parameter_max_length_on_error": "0",
    "log_duration": "off", "log_parser_stats": "off", "log_planner_stats": "off", "log_executor_stats": "off",
    "log_statement_stats": "off", "debug_print_parse": "off", "debug_print_rewritten": "off", "debug_print_plan": "off",
    "debug_print_raw_parse": "off",
    "log_min_messages": "warning", "summarize_wal": "off", "archive_mode": "off", "wal_level": "replica",
    "fsync": "on", "shared_preload_libraries": "",
    "session_preload_libraries": "", "local_preload_libraries": "",
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("track_commit_timestamp", "on"), ("log_statement", "all"), ("log_statement", "mod"), ("log_min_duration_statement", "0"),
        ("log_min_duration_statement", "1s"), ("log_parameter_max_length_on_error", "-1"), ("archive_mode", "on"),
        ("archive_mode", "always"), ("wal_level", "logical"), ("fsync", "off"), ("log_transaction_sample_rate", "0.5"),
        ("log_duration", "on"), ("log_parser_stats", "on"), ("log_planner_stats", "on"), ("log_executor_stats", "on"),
        ("log_statement_stats", "on"), ("debug_print_parse", "on"), ("debug_print_rewritten", "on"), ("debug_print_plan", "on"),
        ("log_min_messages", "debug1"), ("log_min_messages", "debug5"), ("log_min_messages", "debug"), ("summarize_wal", "on"),
    ],
)  # fmt: skip
def test_settings_that_betray_are_seen(name, value):
    assert list(betraying_settings(HARMLESS.get)) == []
    assert [found for found, _ in betraying_settings((HARMLESS | {name: value}).get)] == [name]


def test_libraries_that_log_are_seen():
    loaded = HARMLESS | {"shared_preload_libraries": "pg_stat_statements, pgaudit"}
    assert [found for found, _ in betraying_settings(loaded.get)] == ["pgaudit"]


@pytest.mark.parametrize("address", ["answers.db", "sqlite:///", "mysql://x", "sqlite://answers.db"])
def test_other_databases_are_refused(address):
    plan = pk.plan(schema_of([2]), records=100, k=5)
    with pytest.raises(pk.InputError, match="there is no other kind"):
        open_store(address, plan, "0" * 64, expected=100)


def test_k_so_far_follows_the_formula():
    plan = pk.plan(schema_of([2, 3]), records=1_000, k=20, design="equal-rho")
    ratio = float(plan.anonymity_ratio)
    found = standing(plan, 500)
    assert float(found["k"]) == pytest.approx(1 + 499 * ratio, abs=1e-4)
    for known, k in found["k_if_known"]:
        assert float(k) == pytest.approx(1 + (499 - known) * ratio, abs=1e-4)
        assert float(k) <= 1 + (499 - known) * ratio
    assert known_counts(0) == [0]
    assert standing(plan, 0)["k"] == "1"


@pytest.mark.parametrize("design", ["equal-rho", "joint", "optimal"])
def test_a_forged_row_moves_an_estimate_by_the_largest_entry_of_the_inverse(design):
    plan = pk.plan(schema_of([2, 4]), records=1_000, k=20, design=design)
    moves = forged_row_moves(plan)
    for attribute in plan.schema.randomised:
        rho, size = plan.rho[attribute.name], attribute.size
        inverse = (np.eye(size) - (1 - rho) / size) / rho  # of rho I + (1 - rho)/V J
        assert moves[attribute.name] == pytest.approx(np.abs(inverse).max(), rel=1e-9)


def test_forged_rows_do_that_and_no_more():
    """Every value forged, on top of honest rows: the estimates move by at most the bound, and one of them by just that."""
    plan = pk.plan(schema_of([3]), records=300, k=10, design="equal-rho")
    honest = np.array([100, 120, 80])
    bound = forged_row_moves(plan)["a0"]

    def estimate(counts):
        from pkanon._results import Estimate

        codes = {"a0": np.repeat(np.arange(3), counts)}
        return Estimate.of(plan.schema, plan.blocks, codes, ["a0"]).to_polars()["estimate"].to_numpy()

    shifts = [np.abs(estimate(honest + np.eye(3, dtype=int)[forged]) - estimate(honest)).max() for forged in range(3)]
    assert max(shifts) == pytest.approx(bound)
    assert max(shifts) <= bound * (1 + 1e-9)


def test_records_are_packed_and_read_again():
    layout = Layout((2, 300, 70_000, 256))
    assert layout.record_bytes == 1 + 2 + 4 + 1
    rows = [[1, 299, 69_999, 255], [0, 0, 0, 0], [1, 256, 65_536, 7]]
    columns = layout.columns([layout.pack(row) for row in rows])
    assert [list(map(int, row)) for row in zip(*columns)] == rows
    assert [column.dtype.name for column in columns] == ["uint8", "uint16", "uint32", "uint8"]
    for a, b in itertools.combinations(rows, 2):
        assert layout.pack(a) != layout.pack(b)
