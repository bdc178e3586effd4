"""Randomisation against k-anonymisation, on the embedded table and on real ones.

    python benchmarks/comparison.py --data DIR             the tables below that are in DIR, and the embedded one
    python benchmarks/comparison.py --data DIR --write     also put tables and figures into docs/results/compare.md

    uscensus1990_7attr_sample50k.csv.gz   50,000 people of the US census of 1990, coded as the embedded table
    adult.csv.gz                          48,842 people of the UCI table "Adult"
    atus_2003_2016_persons.csv.gz         181,335 people of the American Time Use Survey
    nist_acs2019_national.csv.gz          27,253 people of the American Community Survey of 2019, NIST's excerpts

A few columns of each are taken, wide ones in bands. The target is income in all of them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl

import pkanon as pk
from report import FIGURES, put

KS = (2, 10, 100, 1000)
EMBEDDED = "embedded (synthetic)"
EDUCATION = (
    "< hs diploma", "hs diploma", "some college", "associate degree", "bachelor's degree", "master's degree",
    "prof degree", "doctoral degree",
)  # fmt: skip
SHOWN = ("tables", "queries", "risks")


def coded(frame: pl.DataFrame) -> tuple[pl.DataFrame, pk.Schema]:
    """Columns as whole numbers from 0: numbers as they are, texts in the order of the alphabet, missing ones last."""
    columns = []
    for column in frame:
        values = column.drop_nulls().unique().sort()
        places = {value: place for place, value in enumerate(values.to_list())}
        codes = [places.get(value, len(places)) for value in column.to_list()]
        columns.append(pl.Series(column.name, codes))
    attributes = [pk.Attribute.ranged(column.name, 0, int(column.max())) for column in columns]  # type: ignore[arg-type]  # polars types max() of any column
    return pl.DataFrame(columns), pk.Schema(attributes)


def census(file: Path) -> pl.DataFrame:
    """The seven attributes of the paper."""
    names = ["sex", "age18", "inc12", "work89", "worklwk", "yearsch", "trav20"]
    return pl.read_csv(file, columns=names).select(names).rename({"inc12": "income"})


def adult(file: Path) -> pl.DataFrame:
    """Age in bands of five years."""
    frame = pl.read_csv(file, infer_schema_length=None).with_columns(pl.col("age") // 5)
    return frame.select("sex", "age", "race", "education-num", "marital-status", "occupation", "income")


def atus(file: Path) -> pl.DataFrame:
    """Age in bands of five years; education and income in their order, income that was not given last."""
    frame = pl.read_csv(file, infer_schema_length=None).with_columns(
        pl.col("age") // 5,
        pl.col("edu").replace_strict(EDUCATION, range(len(EDUCATION))),
        income=pl.col("famincome").replace("< 5000", "0").str.extract(r"(\d+)").cast(pl.Int64),
    )
    return frame.select("sex", "age", "edu", "labor_status", "region", "marital", "income")


def nist(file: Path) -> pl.DataFrame:
    """Age in bands of five years, income in tenths; N (not applicable) is the last value."""
    frame = pl.read_csv(file, infer_schema_length=None, null_values="N").with_columns(pl.col("AGEP") // 5)
    return frame.select("SEX", "AGEP", "RAC1P", "MSP", "OWN_RENT", "EDU", pl.col("PINCP_DECILE").alias("income"))


TABLES: dict[str, tuple[str, Callable[[Path], pl.DataFrame]]] = {
    "uscensus1990_7attr_sample50k.csv.gz": ("census 1990", census),
    "adult.csv.gz": ("Adult", adult),
    "atus_2003_2016_persons.csv.gz": ("time use", atus),
    "nist_acs2019_national.csv.gz": ("community survey", nist),
}

USES = {
    "l1_1": "tables of 1 attribute, L1",
    "l1_2": "tables of 2 attributes, L1",
    "l1_3": "tables of 3 attributes, L1",
    "query_error": "queries, absolute",
    "query_relative": "queries, relative",
    "cramers_v": "Cramér's V",
    "accuracy": "accuracy",
    "log_loss": "log-loss",
}
RISKS = {
    "linkage": "row picked",
    "linkage_highest": "highest confidence",
    "inference": "target guessed",
    "certain": "target certain",
}


BESIDE = {
    **dict.fromkeys(("l1_2", "l1_3", "query_error", "query_relative", "cramers_v"), ("independence",)),
    "accuracy": ("raw data", "commonest value"),
    "log_loss": ("raw data",),
    "inference": ("commonest value", "other people"),
    "certain": ("other people",),
}
"""Columns before those of k."""


def digits(value: float) -> str:
    """Two or three digits; tiny numbers with an exponent."""
    return f"{value:.1e}" if 0 < value < 1e-4 else f"{value:.3g}" if value < 100 else f"{value:.0f}"


def use_rows(name: str, result: pk.experiments.Comparison) -> dict[str, str]:
    """Per measure: Mondrian, the same with the target as it is, equal-rho, optimal, optimal read by its model, at each k.

    The better of inverse and simplex for the others; in bold the best of those that protect all attributes, unless it is
    worse than what needs no table of several attributes at all.
    """
    found = {}
    frame = result.to_polars()
    for measure in USES:
        best_of = max if measure == "accuracy" else min
        own = frame.filter(pl.col("k").is_null() & (pl.col("measure") == measure))
        beside = dict(own.select("way", "value").iter_rows())
        cells = []
        for k in KS:
            here = dict(
                frame.filter((pl.col("k") == k) & (pl.col("measure") == measure)).select("way", "value").iter_rows()
            )
            values = {way: here[way] for way in ("mondrian", "mondrian as-is")}
            for design in ("equal-rho", "optimal"):
                values[design] = best_of(here[f"{design} {method}"] for method in ("inverse", "simplex"))
            if "optimal model" in here:
                values["model"] = here["optimal model"]
            best = best_of(value for way, value in values.items() if way != "mondrian as-is")
            naive = [beside[way] for way in ("independence", "commonest value") if way in beside]
            if naive and best_of(best, *naive) != best:
                best = None
            cells.append(" / ".join(f"**{digits(v)}**" if v == best else digits(v) for v in values.values()))
        found[measure] = (
            f"| {name} | {' | '.join([*(digits(beside[way]) for way in BESIDE.get(measure, ())), *cells])} |"
        )
    return found


def risk_rows(name: str, result: pk.experiments.Comparison) -> dict[str, str]:
    """Per measure: Mondrian, Mondrian with the target as it is, equal-rho, optimal at each k."""
    found = {}
    frame = result.to_polars()
    for measure in RISKS:
        part = frame.filter(pl.col("measure") == measure)
        cells = []
        for k in KS:
            here = dict(part.filter(pl.col("k") == k).select("way", "value").iter_rows())
            ways = ("mondrian", "mondrian as-is", "equal-rho", "optimal")
            cells.append(" / ".join(digits(here[way]) for way in ways))
        beside = dict(part.filter(pl.col("k").is_null()).select("way", "value").iter_rows())
        found[measure] = (
            f"| {name} | {' | '.join([*(digits(beside[way]) for way in BESIDE.get(measure, ())), *cells])} |"
        )
    return found


def tables(rows: dict[str, list[str]], titles: dict[str, str]) -> str:
    """One Markdown table per measure."""
    parts = []
    for measure, title in titles.items():
        columns = [*BESIDE.get(measure, ()), *(f"k = {k:,}" for k in KS)]
        head = f"| {title} | {' | '.join(columns)} |\n|---|{'---:|' * len(columns)}"
        parts.append("\n".join([head, *rows[measure]]))
    return "\n\n".join(parts)


def main() -> None:
    """Compare on every table there is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--write", action="store_true", help="put tables and figures into docs/results/compare.md")
    arguments = parser.parse_args()
    results: dict[str, pk.experiments.Comparison] = {}
    sizes = ["| table | rows | attributes and how many values they have | seconds |", "|---|---:|---|---:|"]
    for file, (name, read) in {"": (EMBEDDED, None), **TABLES}.items():
        start = time.perf_counter()
        if read is None:
            results[name] = pk.experiments.compare(ks=KS)
        elif (arguments.data / file).exists():
            table, schema = coded(read(arguments.data / file))
            results[name] = pk.experiments.compare(table, schema, ks=KS, target="income")
        else:
            print(f"{file} is not in {arguments.data}")
            continue
        shown = ", ".join(f"{attribute} {size}" for attribute, size in results[name].sizes.items())
        rows = results[name].source.rpartition(", ")[2].removesuffix(" rows")
        sizes.append(f"| {name} | {rows} | {shown} | {time.perf_counter() - start:.0f} |")
        print(sizes[-1], flush=True)
    uses: dict[str, list[str]] = {}
    risks: dict[str, list[str]] = {}
    for name, result in results.items():
        for rows_of, into in ((use_rows, uses), (risk_rows, risks)):
            for measure, row in rows_of(name, result).items():
                into.setdefault(measure, []).append(row)
    parts = {"data": "\n".join(sizes), "use": tables(uses, USES), "risk": tables(risks, RISKS)}
    for name, part in parts.items():
        print(f"\n{part}")
        if arguments.write:
            put(name, part, page="compare.md")
    if arguments.write:
        for figure in SHOWN:
            file = FIGURES / f"compare-{figure}.svg"
            file.unlink(missing_ok=True)
            pk.save_chart(results[EMBEDDED].chart(figure), file)


if __name__ == "__main__":
    main()
