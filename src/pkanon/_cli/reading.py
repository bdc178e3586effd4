"""Schemas and plans from the files that were typed. A file of another kind is refused by what it is."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pkanon as pk

from . import private

TABLES = (
    *(".csv", ".tsv", ".tab", ".gz", ".zip", ".parquet", ".pq", ".feather", ".arrow", ".ipc", ".jsonl", ".ndjson"),
    *(".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt", ".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
    *(".duckdb", ".sqlite", ".sqlite3", ".db"),
)


def read_schema(path: str) -> pk.Schema:
    """The schema in a file."""
    refuse_other_kinds(path)
    return pk.read_schema(path)


def read_schema_or_survey(path: str) -> pk.Schema:
    """The schema in a file, or the one in a survey.toml, whose words are left aside."""
    return private.survey_schema(path) if is_survey(path) else read_schema(path)


def is_survey(path: str) -> bool:
    """Whether a file is a survey.toml: a schema with a table [survey]."""
    if not path.endswith(".toml"):
        return False
    try:
        return "survey" in tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):  # whoever reads it says what is wrong
        return False


def refuse_other_kinds(path: str) -> None:
    """Refuse a file that cannot be a schema."""
    if is_table(path):
        raise pk.InputError(f"{path} is a table, not a schema; pkanon schema {path} drafts a schema from it.")
    if path.endswith(".json") or Path(path).is_dir():
        raise pk.InputError(f"{path} is not a schema; pkanon explain explains a plan or a release.")


def read_plan(path: str) -> pk.Plan:
    """The plan in a file."""
    if is_table(path):
        raise pk.InputError(f"{path} is a table, not a plan; pkanon plan makes a plan from a schema.")
    if path.endswith(".toml"):
        raise pk.InputError(f"{path} is a schema, not a plan; pkanon plan {path} makes a plan from it.")
    if Path(path).is_dir():
        raise pk.InputError(f"{path} is a folder, not a plan; the plan of a release is {Path(path, 'plan.json')}.")
    return pk.read_plan(path)


def read_plan_or_release(path: str) -> pk.Plan | pk.Release:
    """The plan in a file, or the release in a folder or in its Parquet file."""
    if Path(path).is_dir() or path.endswith(".parquet"):
        return pk.open_release(path)
    return read_plan(path)


def is_table(path: str) -> bool:
    """Whether a path is a file with the ending of a table."""
    return path.lower().endswith(TABLES) and Path(path).is_file()
