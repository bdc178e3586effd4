"""benchmarks/collect.py runs: its servers start, its load arrives, and its counts are checked. What it measures is not."""

import os
import subprocess
import sys
from pathlib import Path

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "collect.py"


def test_a_small_run_of_the_benchmark(folder):
    command = [sys.executable, str(BENCHMARK), "load", "many", "--answers", "128", "--rounds", "1", "--many", "400"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"BENCH_FOLDER": str(folder)})
    assert done.returncode == 0, done.stderr
    for server in ("bare Starlette", "the service, open link", "the service, invited"):
        assert f"| {server}" in done.stdout
    assert "400 answers on SQLite, one in ten sent twice: 0 lost, 0 doubled, 0 changed" in done.stdout
