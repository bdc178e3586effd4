"""Real tables from draft to release: does everything hold on data nobody made for us, and how long does it take?

    python benchmarks/real.py --data DIR            every .csv, .csv.gz and .parquet in DIR
    python benchmarks/real.py --data DIR --write    also put the table into docs/benchmarks.md

Each table is drafted (and the draft taken as confirmed, for this purpose only), planned for k = 10,
checked and released; then the release is opened again and its columns are compared with the schema.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

import polars as pl

import pkanon as pk
from report import put

K = 10


def through(file: Path, folder: Path) -> str:
    """One table through the whole path; a row of the report."""
    seconds = {}

    def timed(step: str, run):  # type: ignore[no-untyped-def]  # whatever the step returns
        start = time.perf_counter()
        result = run()
        seconds[step] = time.perf_counter() - start
        return result

    baseline = timed(
        "polars", lambda: pl.read_csv(file, infer_schema_length=None) if "csv" in file.name else pl.read_parquet(file)
    )
    draft = timed("draft", lambda: pk.draft_schema(file))
    schema = pk.Schema(draft.schema.attributes)
    plan = timed("plan", lambda: pk.plan(schema, records=baseline.height, k=K))
    release = timed("release", lambda: pk.release(file, plan))
    timed("save", lambda: release.save(folder / "out"))
    again = timed("open", lambda: pk.open_release(folder / "out"))
    assert again.rows == baseline.height
    assert again.certificate.k >= K
    assert again.table.equals(release.table)
    shutil.rmtree(folder / "out")
    sizes = [attribute.size for attribute in schema.randomised]
    cells = " ".join(f"{1e3 * seconds[step]:.0f} |" for step in ("polars", "draft", "plan", "release", "save", "open"))
    return f"| {file.name} | {baseline.height:,} | {len(schema.names)} | {len(sizes)} | {max(sizes)} | {plan.epsilon_text} | {cells}"


def main() -> None:
    """Report on every table in a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--write", action="store_true", help="put the table into docs/benchmarks.md")
    arguments = parser.parse_args()
    lines = [
        "| table | rows | columns | randomised | largest | epsilon | read ms | draft ms | plan ms | release ms | save ms | open ms |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for file in sorted(arguments.data.iterdir()):
        if file.name.endswith((".csv", ".csv.gz", ".parquet")):
            with tempfile.TemporaryDirectory() as folder:
                lines.append(through(file, Path(folder)))
            print(lines[-1])
    if arguments.write:
        put("real", "\n".join(lines))


if __name__ == "__main__":
    main()
