"""The release under verification, read piece by piece: whatever cannot be read is a fault, not an error.

Nothing here trusts one file because of another: each piece is read by itself, so that one damaged file does not hide
what is wrong with the others.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from ..._errors import EnvironmentFailure, InputError, PkanonError, PlanError
from ..._files import parse_json
from ..._frames import Encoded, encode_released, likely_rows
from ..._plan import LARGEST_RECORDS, Plan
from ..._progress import Progress, quiet
from ..._release import (
    CERTIFICATE,
    CERTIFICATE_KEY,
    FORMATS,
    PACKAGE,
    PLAN,
    PLAN_KEY,
    PREDICTED,
    README,
    FileRows,
    Release,
)
from .spooled import Passed, Spooled, width

JSON_FILES = (PACKAGE, PLAN, CERTIFICATE)
DATA_FILES = FORMATS["both"]
TYPES_KEY = "ARROW:schema"
"""What every Parquet file of Arrow's makers carries: the types of its columns."""
ROOM = 2**28
"""Bytes of codes up to which the rows of a file are in memory; of larger files only a piece is."""
SPARE = 32
"""Characters a column by which versions of the writer may describe its type otherwise; more could hide something."""


@dataclass(frozen=True)
class Document:
    """A JSON file as far as it can be read: its text, its object, and what is wrong with it."""

    text: str | None
    value: Mapping[str, Any] | None
    fault: str | None = None
    absent: bool = False

    @classmethod
    def of(cls, name: str, content: bytes | None) -> Document:
        """The document in some bytes, or in none if it could not be read."""
        if content is None:
            return cls(None, None, f"{name} is absent or cannot be read.", absent=True)
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            return cls(None, None, f"{name} is not UTF-8 text.")
        try:
            value = parse_json(text)
        except ValueError:
            once = _is_json(text)
            return cls(text, None, f"{name} {'gives a key twice' if once else 'is not valid JSON'}.")
        if not isinstance(value, dict):
            return cls(text, None, f"{name} is not a JSON object.")
        return cls(text, value)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


@dataclass(frozen=True)
class Case:
    """A release: in a folder, in a single Parquet file, or in memory."""

    subject: str
    folder: Path | None = None
    parquet: Path | None = None
    release: Release | None = None
    progress: Progress = quiet

    @classmethod
    def of(cls, place: str | Path | Release, progress: Progress = quiet) -> Case:
        """The case of a path or of a release; an InputError if there is nothing that could be a release."""
        if isinstance(place, Release):
            return cls("The release", release=place, progress=progress)
        path = Path(place)
        if path.is_dir():
            if not any((path / name).is_file() for name in (PACKAGE, CERTIFICATE)):
                raise InputError(f"{path} is not a release: it has neither {PACKAGE} nor {CERTIFICATE}.")
            return cls(str(path), folder=path, progress=progress)
        if path.suffix == ".parquet" and path.is_file():
            case = cls(str(path), parquet=path, progress=progress)
            if not case.inside(path):
                raise InputError(f"{path} is not the data of a release: it carries no plan, or cannot be read.")
            return case
        reason = "give its folder, or the Parquet file inside" if path.exists() else "it does not exist"
        raise InputError(f"{path} is not a release: {reason}.")

    @staticmethod
    def inside(file: Path) -> dict[str, str]:
        """What a Parquet file carries of a release; empty if nothing, or if it cannot be read."""
        metadata = _metadata(file)
        return {key: metadata[key] for key in (PLAN_KEY, CERTIFICATE_KEY) if key in metadata}

    @staticmethod
    def strange_keys(file: Path) -> list[str]:
        """What a Parquet file carries that is not of a release: entries, also second ones, and types described at strange length."""
        metadata, known = _metadata(file), (PLAN_KEY, CERTIFICATE_KEY, TYPES_KEY)
        strange = sorted(key for key in metadata if key not in known)
        long = [TYPES_KEY] if len(metadata.get(TYPES_KEY, "")) > _longest_types(file) else []
        return [*strange, *long, *(f"{key} again" for key in _repeated(file, metadata))]

    @cached_property
    def documents(self) -> dict[str, Document]:
        """The JSON files by name."""
        if self.release is not None:
            parts = {PLAN: self.release.plan.to_json(), CERTIFICATE: self.release.certificate.to_json()}
            return {name: Document(json.dumps(value), value) for name, value in parts.items()}
        if self.parquet is not None:
            inside, keys = self.inside(self.parquet), {PLAN: PLAN_KEY, CERTIFICATE: CERTIFICATE_KEY}
            return {
                name: Document.of(name, inside[key].encode() if key in inside else None) for name, key in keys.items()
            }
        assert self.folder is not None
        return {name: Document.of(name, _content(self.folder / name)) for name in JSON_FILES}

    def value(self, name: str) -> Mapping[str, Any] | None:
        """The object in a JSON file, if it can be read."""
        return self.documents[name].value if name in self.documents else None

    @cached_property
    def _plan(self) -> Plan | str:
        data = self.value(PLAN)
        if data is None:
            return self.documents[PLAN].fault or ""
        try:
            return Plan.from_json(data)
        except PlanError as error:
            return str(error)
        except PkanonError as error:
            return f"The plan cannot be used: {error}"

    @property
    def plan(self) -> Plan | None:
        """The plan, if it can be read."""
        return self._plan if isinstance(self._plan, Plan) else None

    @property
    def plan_fault(self) -> str | None:
        """Why there is no plan."""
        return self._plan if isinstance(self._plan, str) else None

    @cached_property
    def data_files(self) -> tuple[Path, ...]:
        """The files that hold the rows: those that the data package names, else those there are."""
        if self.parquet is not None:
            return (self.parquet,)
        if self.folder is None:
            return ()
        return tuple(self.folder / name for name in self.data_names if (self.folder / name).is_file())

    @cached_property
    def data_names(self) -> tuple[str, ...]:
        """The names of the files that should hold the rows."""
        named: list[str] = []
        with suppress(LookupError, TypeError):
            named = [resource["path"] for resource in (self.value(PACKAGE) or {})["resources"]]
        known = tuple(name for name in DATA_FILES if name in named)
        return known or tuple(name for name in DATA_FILES if self.folder and (self.folder / name).is_file())

    @cached_property
    def text_names(self) -> tuple[str, ...]:
        """The names of the files that should be there beside the JSON files and the rows.

        The first releases have no predicted errors; one that has either the file or its hash must have both.
        """
        own = (self.value(PACKAGE) or {}).get("pkanon")
        named = isinstance(own, dict) and "predicted" in own
        there = self.folder is not None and (self.folder / PREDICTED).exists()
        return (README, PREDICTED) if named or there else (README,)

    @cached_property
    def tables(self) -> dict[str, Encoded | str]:
        """The rows of each data file, or why they are not rows of this plan."""
        plan = self.plan
        if plan is None:
            return {}
        if self.release is not None:
            release = self.release
            return {"the rows": Encoded(release.rows, release.codes, release.passed, release.kind)}
        return {file.name: _encoded(file, plan, self.progress) for file in self.data_files}

    @cached_property
    def table(self) -> Encoded | None:
        """The rows, if they can be read."""
        return next((table for table in self.tables.values() if isinstance(table, Encoded)), None)

    def marks(self) -> list[tuple[int, ...]]:
        """What changes when somebody writes a file of rows, which are read several times."""
        found: list[tuple[int, ...]] = []
        for file in self.data_files:
            with suppress(OSError):
                about = file.stat()
                found.append((about.st_ino, about.st_size, about.st_mtime_ns))
        return found

    @property
    def rows(self) -> int | None:
        """How many rows the certificate says there are, if it says so."""
        rows = None
        with suppress(LookupError, TypeError):
            rows = (self.value(CERTIFICATE) or {})["rows"]["released"]
        return rows if type(rows) is int and 0 <= rows <= LARGEST_RECORDS else None


def stated(data: Mapping[str, Any], key: str) -> list[Any]:
    """The sentences in a certificate under ``key``; none where there is no list of them."""
    value = data.get(key)
    return value if isinstance(value, list) else []


def _metadata(file: Path) -> dict[str, str]:
    """What a Parquet file carries beside its rows; nothing of any other file."""
    if file.suffix == ".parquet":
        with suppress(pl.exceptions.PolarsError, OSError):
            return pl.read_parquet_metadata(file)
    return {}


def _repeated(file: Path, metadata: Mapping[str, str]) -> list[str]:
    """Entries that a Parquet file has more than once: a reader gives one of them, and the others could be anything."""
    footer, told = _footer(file) if metadata else b"", [*metadata, *metadata.values()]
    return [key for key in metadata if footer.count(key.encode()) > sum(text.count(key) for text in told)]


def _footer(file: Path) -> bytes:
    """The end of a Parquet file, with all its entries: before its own length, four bytes, and four magic ones."""
    with file.open("rb") as opened:
        opened.seek(-8, os.SEEK_END)
        length = int.from_bytes(opened.read(4), "little")
        opened.seek(-8 - length, os.SEEK_END)
        return opened.read(length)


def _longest_types(file: Path) -> int:
    """How long the description of the types of a Parquet file may be, so that nothing else is in it."""
    with suppress(pl.exceptions.PolarsError, OSError):
        empty, written = pl.DataFrame(schema=pl.read_parquet_schema(file)), io.BytesIO()
        empty.write_parquet(written)
        written.seek(0)
        return len(pl.read_parquet_metadata(written)[TYPES_KEY]) + SPARE * empty.width
    return 0


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes() if path.is_file() else None  # a pipe would never end
    except OSError:
        return None


def _encoded(file: Path, plan: Plan, progress: Progress) -> Encoded | str:
    try:
        if (likely_rows(file) or 0) * width(plan.schema) > ROOM:
            return _on_disk(file, plan, progress)
        return encode_released(file, plan.schema, progress=progress)
    except EnvironmentFailure:
        raise  # a full disk or too little memory says nothing about the release
    except PkanonError as error:
        return " ".join(str(error).split("\n"))


def _on_disk(file: Path, plan: Plan, progress: Progress) -> Encoded:
    """The rows of a file that are read again a piece at a time; all of them are read once, as the others are."""
    taker = Passed() if file.suffix == ".parquet" else Spooled(plan.schema)
    encoded = encode_released(file, plan.schema, taker, progress=progress)
    codes = taker if isinstance(taker, Spooled) else FileRows(file, plan, encoded.rows).codes
    return replace(encoded, codes=codes, passed=taker.frame)
