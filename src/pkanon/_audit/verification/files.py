"""The files of a release folder: all there, unchanged, readable one way only, and in agreement with each other."""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from ..._files import UNFINISHED, laid_out
from ..._frames import Encoded
from ..._plan import PLAN_FORMAT
from ..._release import (
    CERTIFICATE,
    CERTIFICATE_FORMAT,
    CERTIFICATE_KEY,
    HASHED,
    PACKAGE,
    PLAN,
    PLAN_KEY,
    PREDICTED,
    README,
    REPORT,
    SIGNATURE,
    Certificate,
    datapackage,
    disagreements,
    file_hash,
    readme,
)
from .case import DATA_FILES, JSON_FILES, Case, Document
from .pieces import even_pieces
from .verdicts import Check, judged, unchecked
from .versions import explained

FORMATS = {PLAN: PLAN_FORMAT, CERTIFICATE: CERTIFICATE_FORMAT}
NO_FOLDER = "There is no folder, only the rows with their plan and certificate."


def files(case: Case) -> Check:
    """Every file of a release is there."""
    if case.folder is None:
        return unchecked("files", NO_FOLDER)
    there = sorted(path.name for path in case.folder.iterdir())
    expected = [*JSON_FILES, *case.text_names, *case.data_names]
    faults = [f"{name} is missing." for name in expected if name not in there]
    faults += [
        f"{name} cannot be read." for name, document in case.documents.items() if document.absent and name in there
    ]
    if not case.data_names:
        faults.append("No file holds the rows.")
    if case.folder.name.endswith(UNFINISHED):
        faults.append("Writing the folder was interrupted.")
    return judged("files", faults, f"All {len(expected)} files are there.")


def strangers(case: Case) -> list[Check]:
    """Files that are not part of the release are mentioned: they may be private."""
    if case.folder is None:
        return []
    known = {*JSON_FILES, *case.text_names, *case.data_names, SIGNATURE, REPORT}
    found = sorted(path.name for path in case.folder.iterdir() if path.name not in known)
    if not found:
        return []
    return [
        unchecked("other files", f"Not part of the release; look before you publish the folder: {', '.join(found)}.")
    ]


def report(case: Case) -> list[Check]:
    """A report in the folder is mentioned: anybody may have written it."""
    if case.folder is None or not (case.folder / REPORT).exists():
        return []
    covered = "is there, but neither hashes nor a signature cover it: make it again with pkanon report."
    return [unchecked(REPORT, f"{REPORT} {covered}")]


def hashes(case: Case) -> Check:
    """Every file is the one that the data package has the hash of."""
    if case.folder is None:
        return unchecked("hashes", NO_FOLDER)
    package = case.value(PACKAGE)
    if package is None:
        return unchecked("hashes", f"{PACKAGE} cannot be read, and the hashes are in it.")
    known = listed_hashes(package)
    faults = [
        f"{name} has no hash." for name in (PLAN, CERTIFICATE, *case.text_names, *case.data_names) if name not in known
    ]
    for name, hash in known.items():
        actual = None
        with suppress(OSError):
            actual = file_hash(case.folder / name) if (case.folder / name).is_file() else None
        if actual != hash and (case.folder / name).exists():  # a file that is missing is another check
            problem = "cannot be read" if actual is None else "is not the file that was released"
            faults.append(f"{name} {problem}: its hash differs from {PACKAGE}.")
    return judged("hashes", faults, f"{len(known)} files have the hashes that {PACKAGE} states.")


def listed_hashes(package: Mapping[str, Any]) -> dict[str, Any]:
    """The hashes in a data package by file, as far as they are where they should be."""
    found: dict[str, Any] = {}
    own = package.get("pkanon")
    if isinstance(own, dict):
        found |= {file: own[key] for key, file in HASHED.items() if key in own}
    with suppress(LookupError, TypeError):
        for resource in package["resources"]:
            if resource["path"] in DATA_FILES:  # any other name is a fault that the check of the data package finds
                found[resource["path"]] = resource["hash"]
    return found


def forms(case: Case) -> Check:
    """Every JSON file can be read one way only, in a version of the format that is known here."""
    damaged = [document for document in case.documents.values() if not document.absent or case.folder is None]
    faults = [document.fault for document in damaged if document.fault is not None]
    if case.release is None:
        faults += [
            f"{name} is laid out otherwise than pkanon writes it, which could hide something."
            for name, document in case.documents.items()
            if document.value is not None and not _is_laid_out(document)
        ]
    for name, known in FORMATS.items():
        kind, _, latest = known.partition("/")
        value = case.value(name)
        if value is None:
            continue
        named = value.get("format")
        if named != known:
            version = re.fullmatch(rf"{kind}/(\d{{1,9}})", named) if isinstance(named, str) else None
            newer = version is not None and int(version[1]) > int(latest)
            which = "a newer version of its format than this program knows" if newer else "an unknown format"
            faults.append(f"{name} has {which}; '{known}' is known.")
    read = [name for name in case.documents if case.value(name) is not None]
    return judged("format", faults, f"{', '.join(read)}: valid JSON, every key once, known versions.")


def _is_laid_out(document: Document) -> bool:
    """Whether a JSON file has the blanks and line ends that pkanon writes: a whole table could be told in others."""
    text = laid_out(document.value) + "\n"
    return document.text in (text, text.replace("\n", "\r\n"))  # as Windows writes it


def data_package(case: Case, certificate: Certificate | None) -> Check:
    """The data package says of the rows what plan and certificate say: columns, values, number of rows, claim."""
    name = "data package"
    if case.folder is None:
        return unchecked(name, NO_FOLDER)
    package = case.value(PACKAGE)
    if package is None or case.plan is None or certificate is None:
        absent = PACKAGE if package is None else PLAN if case.plan is None else CERTIFICATE
        return unchecked(name, f"{absent} cannot be read.")
    needed = (PLAN, CERTIFICATE, *case.text_names, *case.data_names)
    missing = [file for file in needed if not (case.folder / file).is_file()]
    if missing or not case.data_names:
        return unchecked(name, f"{', '.join(missing) or 'The file of the rows'} is missing.")
    unhashed = dict.fromkeys(case.data_names, "")  # hashes are a check of their own
    right = datapackage(case.plan, certificate, case.folder, unhashed)
    faults = [
        f"{PACKAGE} differs from what plan and certificate give in {place}."
        for place in differences(right, package, hash_places(case.data_names))
    ]
    faults = explained(faults, case, certificate.software)
    return judged(name, faults, "Columns, types, values and rows are described as plan and certificate say.")


def read_me(case: Case, certificate: Certificate | None) -> Check:
    """README.txt is the text that plan and certificate give."""
    if case.folder is None:
        return unchecked(README, NO_FOLDER)
    data = case.value(CERTIFICATE)
    if case.plan is None or certificate is None or data is None:
        return unchecked(README, "Plan or certificate cannot be read.")
    text = None
    with suppress(OSError, UnicodeDecodeError):
        text = (case.folder / README).read_bytes().decode("utf-8") if (case.folder / README).is_file() else None
    if text is None:
        return judged(README, ["It is missing, or not UTF-8 text."], "")
    right = replace(certificate, date=str(data.get("date")), software=str(data.get("software")))
    words = readme(case.plan, right, case.data_names, with_errors=PREDICTED in case.text_names)
    same = text in (words, words.replace("\n", "\r\n"))  # as Windows writes it
    faults = [] if same else ["It is not the text that plan and certificate give."]
    return judged(README, explained(faults, case, certificate.software), "It says what plan and certificate give.")


def predicted_errors(case: Case) -> Check:
    """The predicted errors are those that the plan gives for the rows released."""
    if case.folder is None:
        return unchecked(PREDICTED, NO_FOLDER)
    if PREDICTED not in case.text_names:
        return unchecked(PREDICTED, "The release was made without it.")
    if case.plan is None or case.rows is None:
        return unchecked(PREDICTED, "Plan or certificate cannot be read.")
    text = None
    with suppress(OSError, UnicodeDecodeError):
        file = case.folder / PREDICTED
        text = file.read_bytes().decode("utf-8") if file.is_file() else None
    if text is None:
        return judged(PREDICTED, ["It is missing, or not UTF-8 text."], "")
    return judged(PREDICTED, disagreements(text, case.plan, case.rows), "Every error is the one that the plan gives.")


def hash_places(data: Sequence[str]) -> set[str]:
    """Where the data package of some data files has hashes, which another check looks at."""
    return {f"pkanon.{key}" for key in HASHED} | {f"resources[{i}].hash" for i in range(len(data))}


def differences(right: Any, found: Any, ignored: Collection[str] = (), place: str = "") -> list[str]:
    """Where two JSON values differ; what must be there and may be anything is ``ignored``."""
    if place in ignored:
        return []
    if type(right) is not type(found):
        return [place or "its form"]
    if isinstance(right, dict):
        faults = [f"{place}.{key}".lstrip(".") for key in [*right, *found] if (key in right) != (key in found)]
        for key in right:
            if key in found:
                faults += differences(right[key], found[key], ignored, f"{place}.{key}".lstrip("."))
        return faults
    if isinstance(right, list):
        if len(right) != len(found):
            return [place]
        return [f for i, pair in enumerate(zip(right, found)) for f in differences(*pair, ignored, f"{place}[{i}]")]
    return [] if right == found else [place]


def copies(case: Case) -> Check:
    """What is held twice is the same: plan and certificate inside Parquet, and the rows in both files.

    A Parquet file has no entry beside them: it could be anything, up to the private table.
    """
    if case.release is not None or (case.folder is not None and not case.data_files):
        return unchecked("copies", "There is one copy of everything." if case.release else "No file holds the rows.")
    faults: list[str] = []
    checked: list[str] = []
    for file in case.data_files if case.folder is not None else ():
        if file.suffix != ".parquet":
            continue
        inside = case.inside(file)
        for name, key in ((PLAN, PLAN_KEY), (CERTIFICATE, CERTIFICATE_KEY)):
            if inside.get(key) != case.documents[name].text:
                faults.append(f"{file.name} carries another {name.partition('.')[0]} than {name}.")
        checked.append(f"{file.name} carries the same plan and certificate")
    for file in case.data_files:
        if more := case.strange_keys(file):
            names = ", ".join(repr(key[:40]) for key in more[:3])
            faults.append(f"{file.name} carries more than plan and certificate: {names}.")
    read = {name: table for name, table in case.tables.items() if isinstance(table, Encoded)}
    if len(read) == 2:
        first, second = read.values()
        if not same_rows(first, second):
            faults.append(f"{' and '.join(read)} hold different rows.")
        checked.append("both files hold the same rows")
    if not faults and not checked:
        return unchecked("copies", "There is one copy of everything.")
    return judged("copies", faults, f"{'; '.join(checked)}.")


def same_rows(one: Encoded, other: Encoded) -> bool:
    """Whether two tables hold the same rows in the same order."""
    names = list(one.codes)
    pairs = zip(even_pieces(one.codes, names), even_pieces(other.codes, names))
    if one.rows != other.rows or not all(np.array_equal(a, b) for pair in pairs for a, b in zip(*pair)):
        return False
    if one.passed is None or other.passed is None:
        return one.passed is other.passed
    return all(_texts(one.passed[name]).equals(_texts(other.passed[name])) for name in one.passed.columns)


def _texts(column: pl.Series) -> pl.Series:
    """A column as a text file would hold it."""
    if column.dtype != pl.String:
        written = column.alias("column").to_frame().write_csv()
        column = pl.read_csv(io.StringIO(written), infer_schema=False)["column"]
    return column.fill_null("")
