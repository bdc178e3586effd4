"""The release folder on disk: a valid Frictionless Data Package.

    out/datapackage.json   what the files are: table schema, values as enum constraints, hashes
    out/data.parquet       the rows (and, or instead, data.csv); carries plan and certificate inside
    out/plan.json          exactly what was done
    out/certificate.json   what it may claim
    out/predicted.csv      the error to expect of every table of one and two attributes: predicted.py
    out/README.txt         how to read it, for people who have nothing installed: readme.py
    out/datapackage.json.sig   if it is signed: signature.py

Everything is written into a folder with another name, ``datapackage.json`` last, and renamed when
it is complete. An interrupted run leaves nothing that looks like a release.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from .. import _frames
from .._errors import DataError, EnvironmentFailure, InputError
from .._files import UNFINISHED, laid_out, parse_json, sync, write_folder
from .._plan import Plan, parse_plan, read_plan
from .._progress import Progress
from .._schema import Attribute, Range, texts_of
from .certificate import Certificate, parse_certificate
from .names import CERTIFICATE, FORMATS, MODELLED_KEY, PACKAGE, PLAN, PREDICTED, README

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from .._frames import Frames

PLAN_KEY, CERTIFICATE_KEY = "pkanon:plan", "pkanon:certificate"
HASHED = {"plan": PLAN, "certificate": CERTIFICATE, "readme": README, "predicted": PREDICTED}
"""Entries under ``pkanon`` in the data package, and the file that each has the hash of."""
YOUNGER = ("predicted",)
"""Those that the first releases do without."""
_PIECE = 2**20
"""Bytes of a file that are hashed together."""
_FIELD_TYPES = {"text": "string", "integer": "integer", "number": "number", "boolean": "boolean", "date": "date"}


def write_release(
    path: Path,
    plan: Plan,
    certificate: Certificate,
    frame: pl.DataFrame | Frames,
    *,
    format: str = "parquet",
    key: Ed25519PrivateKey | None = None,
    progress: Progress,
) -> None:
    """Write a release to ``path``, which must not exist; ``format`` is parquet, csv or both.

    ``frame`` holds the rows, whole numbers in the smallest type that holds them. ``key`` signs the folder.
    """
    if format not in FORMATS:
        raise InputError(f"The format '{format}' is unknown. Available: {', '.join(FORMATS)}.")
    write_folder(path, lambda folder: fill_folder(folder, plan, certificate, frame, FORMATS[format], key, progress))


def fill_folder(
    folder: Path,
    plan: Plan,
    certificate: Certificate,
    frame: pl.DataFrame | Frames,
    names: Sequence[str],
    key: Ed25519PrivateKey | None,
    progress: Progress,
    leave: Path | None = None,
) -> None:
    """Write all files of a release into a folder that exists; the rows go to the files ``names``.

    ``leave`` is a folder inside that holds the rows on their way; it is removed when they are written.
    """
    import shutil
    from concurrent.futures import ThreadPoolExecutor

    from .predicted import predicted
    from .readme import readme
    from .signature import write_signature

    texts = {PLAN: _text(plan.to_json())}
    # meanwhile: the digest of all rows, which the certificate needs, and the hashes of the files
    with ThreadPoolExecutor(2) as pool:
        stated = pool.submit(lambda: _text(certificate.to_json()))
        files = {name: _Growing(folder / name, pool) for name in names}
        try:
            for step, name in enumerate(names):
                progress("writing", step / len(names))
                if name.endswith(".parquet"):
                    _frames.write_parquet(
                        frame,
                        folder / name,
                        lambda: {PLAN_KEY: texts[PLAN], CERTIFICATE_KEY: stated.result()},
                        _frames.wide_types(plan.schema),
                    )
                else:
                    _frames.write_csv(frame, folder / name, files[name].grown)
        except EnvironmentFailure:
            stated.result()  # if it failed, that is why a file could not be written
            raise
        on_disk = pool.map(sync, [folder / name for name in names])  # the rows go to the disk while others are written
        texts[CERTIFICATE] = stated.result()
        if leave is not None:
            shutil.rmtree(leave)
        texts |= {
            README: readme(plan, certificate, names),
            PREDICTED: predicted(plan, certificate.rows),
        }
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        hashes = {name: file.hash() for name, file in files.items()}
        package = _text(datapackage(plan, certificate, folder, hashes))
        list(on_disk)
    (folder / PACKAGE).write_text(package, encoding="utf-8")  # last: it makes a folder a release
    if key is not None:
        write_signature(folder, key)
    for file in folder.iterdir():
        sync(file)
    progress("writing", 1.0)


def export_release(
    path: Path, plan: Plan, certificate: Certificate, frame: pl.DataFrame | Frames, *, as_release: bool = True
) -> dict[str, str]:
    """Write the rows alone to one file; the columns that have another name there, by their own name.

    ``as_release``: a Parquet file holds the plan and opens as a release; rows with a word for missing answers are none.
    """
    inside = {} if not as_release else {PLAN_KEY: _text(plan.to_json()), CERTIFICATE_KEY: _text(certificate.to_json())}
    about = [
        *certificate.statement,
        *certificate.void,
        "Counts of this table are biased; correct them with plan.json.",
        *(f"The promise rests on this: {sentence}" for sentence in certificate.assumptions),
        *(f"Outside of any promise: {sentence}" for sentence in certificate.outside),
    ]
    return _frames.export(frame, path, plan.schema, inside, about)


def _text(value: dict[str, Any]) -> str:
    return laid_out(value) + "\n"


def datapackage(plan: Plan, certificate: Certificate, folder: Path, data: Mapping[str, str]) -> dict[str, Any]:
    """``datapackage.json`` of the files in ``folder``; ``data`` names those that hold the rows, with their hashes."""
    fields = [_field(a) for a in plan.schema.attributes if a.role in ("randomise", "pass")]
    claim = " ".join((*certificate.statement, *certificate.void))
    return {
        "profile": "data-package",
        "name": "pkanon-release",
        "title": "Randomised microdata",
        "description": f"{claim} Counts of this table are biased; correct them with plan.json.",
        "pkanon": {
            "rows": certificate.rows,
            **{
                key: file_hash(folder / name)
                for key, name in HASHED.items()
                if key not in YOUNGER or (folder / name).is_file()
            },
        },
        "resources": [
            {
                "name": "data" if len(data) == 1 else f"data-{name.rpartition('.')[2]}",
                "path": name,
                "format": name.rpartition(".")[2],
                "mediatype": "application/vnd.apache.parquet" if name.endswith(".parquet") else "text/csv",
                **({} if name.endswith(".parquet") else {"encoding": "utf-8"}),
                "hash": own,
                "schema": {"fields": fields, "missingValues": [""]},
            }
            for name, own in data.items()
        ],
    }


def _field(attribute: Attribute) -> dict[str, Any]:
    field: dict[str, Any] = {"name": attribute.name, "type": _FIELD_TYPES[attribute.released_type]}
    if attribute.domain is None:
        return field
    constraints: dict[str, Any] = {}
    if isinstance(attribute.domain, Range):
        limits = [attribute.domain.low, attribute.domain.high]
        limits += [attribute.other] if isinstance(attribute.other, int) else []
        constraints |= {"minimum": min(limits), "maximum": max(limits)}
    else:
        labels = [label for label in attribute.labels() if label is not None]
        plain = attribute.released_type in ("integer", "number", "boolean")
        constraints["enum"] = labels if plain else texts_of(labels)
    if attribute.missing != "value":
        constraints["required"] = True
    return field | {"constraints": constraints}


def file_hash(path: Path) -> str:
    """The hash of a file as a data package states it."""
    with open(path, "rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


class _Growing:
    """A file that is written from its beginning to its end, and hashed on the way by a thread of ``pool``."""

    def __init__(self, path: Path, pool: Executor) -> None:
        self._path, self._pool = path, pool
        self._digest, self._done = hashlib.sha256(), 0
        self._turn = threading.Lock()

    def grown(self) -> None:
        """There is more of it, and what is there stays as it is."""
        self._pool.submit(self._follow)

    def hash(self) -> str:
        """The hash of the file, which is complete."""
        self._follow()
        return f"sha256:{self._digest.hexdigest()}"

    def _follow(self) -> None:
        with self._turn, open(self._path, "rb") as file:
            file.seek(self._done)
            while piece := file.read(_PIECE):
                self._digest.update(piece)
                self._done += len(piece)


def read_folder(path: str | Path) -> tuple[Path, Plan, Certificate]:
    """The data file, plan and certificate of a release folder, or of a Parquet file taken out of one."""
    place = Path(path)
    if place.is_dir():
        return _open_folder(place)
    if place.suffix == ".parquet" and place.is_file():
        return _open_parquet(place)
    if not place.exists():
        raise InputError(
            f"{path} is not a release: it does not exist. Give the folder of a release, or its Parquet file."
        )
    raise InputError(f"{path} is not a release: give its folder, or the Parquet file inside.")


def _open_folder(folder: Path) -> tuple[Path, Plan, Certificate]:
    if folder.name.endswith(UNFINISHED) or not (folder / PACKAGE).is_file():
        raise InputError(f"{folder} is not a finished release: it has no {PACKAGE}, or writing it was interrupted.")
    try:
        package = parse_json((folder / PACKAGE).read_text(encoding="utf-8"))
        own = package["pkanon"]
        hashes = {name: own[key] for key, name in HASHED.items() if key in own or key not in YOUNGER}
        hashes |= {Path(resource["path"]).name: resource["hash"] for resource in package["resources"]}
        changed = [name for name, expected in hashes.items() if file_hash(folder / name) != expected]
        data = folder / Path(package["resources"][0]["path"]).name
        certificate = (folder / CERTIFICATE).read_text(encoding="utf-8")
    except (OSError, ValueError, LookupError, TypeError):
        raise InputError(f"{folder} is a damaged release: a file is absent or unreadable.") from None
    if changed:
        raise DataError(f"{folder / changed[0]} is not the file that was released: its hash differs from {PACKAGE}.")
    plan = read_plan(folder / PLAN)
    return data, plan, parse_certificate(certificate, plan)


def carries_plan(file: Path) -> bool:
    """Whether a file is the Parquet file of a release, with its plan inside."""
    with suppress(pl.exceptions.PolarsError, OSError):
        return file.suffix == ".parquet" and PLAN_KEY in pl.read_parquet_metadata(file)
    return False


def _open_parquet(file: Path) -> tuple[Path, Plan, Certificate]:
    metadata: dict[str, str] = {}
    with suppress(pl.exceptions.PolarsError, OSError):
        metadata = pl.read_parquet_metadata(file)
    if MODELLED_KEY in metadata:
        raise InputError(
            f"{file} holds modelled rows, which need no correction; give the release that they were drawn from."
        )
    if PLAN_KEY not in metadata or CERTIFICATE_KEY not in metadata:
        raise InputError(f"{file} is not the data of a release: it carries no plan.")
    plan = parse_plan(metadata[PLAN_KEY], f"What {file} carries")
    return file, plan, parse_certificate(metadata[CERTIFICATE_KEY], plan)
