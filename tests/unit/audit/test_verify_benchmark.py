"""benchmarks/verify.py runs on a table of one's own."""

import importlib.util
from pathlib import Path

import numpy as np
import polars as pl

SOURCE = Path(__file__).parents[3] / "benchmarks" / "verify.py"


def test_a_table_from_a_file(tmp_path, seed):
    spec = importlib.util.spec_from_file_location("verify_benchmark", SOURCE)
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    draw = np.random.default_rng(seed)
    people = pl.DataFrame({"sex": draw.choice(["F", "M"], 300, p=[0.9, 0.1]), "rooms": draw.integers(1, 5, 300)})
    people.write_csv(tmp_path / "people.csv")
    schema, codes = benchmark.drafted(tmp_path / "people.csv")
    assert list(codes) == ["sex", "rooms"]
    for name, column in codes.items():  # the same people, in another order
        assert sorted(np.bincount(column)) == sorted(people[name].value_counts()["count"])
    cells = benchmark.line("people.csv", schema, codes, 20, "equal-rho").split(" | ")
    assert cells[1:4] == ["300", "equal-rho", "20"]
    assert float(cells[4]) < 6 < float(cells[5])
