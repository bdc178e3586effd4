"""Runs that share a ledger, and runs that are killed."""

import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

import pkanon as pk

RUNS = Path(__file__).parents[2] / "support" / "ledger_runs.py"
PROCESSES = 50


@pytest.fixture
def plan_file(tmp_path):
    pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, epsilon=2).save(tmp_path / "plan.json")
    return tmp_path / "plan.json"


def run(task, ledger, plan_file, number):
    command = [sys.executable, str(RUNS), task, str(ledger), str(plan_file), str(number)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_no_entry_of_fifty_processes_is_lost(tmp_path, plan_file):
    # they begin the file, too: it does not exist before
    assert Counter(run("race", tmp_path / "people.ledger", plan_file, PROCESSES)) == {"0": PROCESSES}
    account = pk.Ledger(tmp_path / "people.ledger").account("people")
    assert [entry.number for entry in account.entries] == list(range(1, PROCESSES + 1))
    assert account.spent == PROCESSES * Fraction(account.entries[0].epsilon)


def test_fifty_processes_never_exceed_the_limit(tmp_path, plan_file):
    ledger = pk.Ledger(tmp_path / "people.ledger")
    ledger.set_limit("people", 41)  # room for 20 releases of epsilon 2, not for 21
    codes = Counter(run("race", ledger.path, plan_file, PROCESSES))
    assert codes == {"0": 20, "1": PROCESSES - 20}  # everybody who could be served was
    account = ledger.account("people")
    assert len(account.entries) == 20
    assert account.spent <= account.limit


def test_a_writer_that_is_killed_leaves_a_ledger_that_can_be_read(tmp_path, plan_file, seed):
    # what a writer was told is written is there, and no more than the one event it may have been writing
    *wrong, events = run("kill", tmp_path / "people.ledger", plan_file, seed)
    assert wrong == []
    assert int(events.split()[1]) >= 40  # two writers in three live until they have written one, at least
