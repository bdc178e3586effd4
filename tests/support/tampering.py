"""What a cheat does to a release folder: edit a file, and cover it up as well as can be."""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import pkanon as pk
from pkanon._release import CERTIFICATE_KEY, PLAN_KEY, central_of, data_digest
from pkanon._schema import Codes

Json = dict[str, Any]


def read(folder: Path, name: str) -> Json:
    value: Json = json.loads((folder / name).read_text(encoding="utf-8"))
    return value


def edit(folder: Path, name: str, change: Callable[[Json], Any]) -> None:
    """Change the object in a JSON file in place."""
    value = read(folder, name)
    change(value)
    (folder / name).write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def cover_up(folder: Path) -> None:
    """Put the plan and the certificate into the Parquet file and correct every hash."""
    data = folder / "data.parquet"
    if data.exists():
        texts = {
            key: (folder / name).read_text(encoding="utf-8")
            for key, name in ((PLAN_KEY, "plan.json"), (CERTIFICATE_KEY, "certificate.json"))
        }
        pl.read_parquet(data).write_parquet(data, metadata=texts)
    rehash(folder)


def rehash(folder: Path) -> None:
    """Correct every hash in the data package."""

    def change(package: Json) -> None:
        files = {
            "plan": "plan.json",
            "certificate": "certificate.json",
            "readme": "README.txt",
            "predicted": "predicted.csv",
        }
        for key in package["pkanon"]:
            if key in files:
                package["pkanon"][key] = sha256(folder / files[key])
        for resource in package["resources"]:
            resource["hash"] = sha256(folder / resource["path"])

    edit(folder, "datapackage.json", change)


def sha256(path: Path) -> str:
    return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


def rows(folder: Path, change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    """Change the rows in every file that holds them."""
    for file in folder.glob("data.*"):
        if file.suffix == ".parquet":
            metadata = pl.read_parquet_metadata(file)
            inside = {key: metadata[key] for key in (PLAN_KEY, CERTIFICATE_KEY)}
            change(pl.read_parquet(file)).write_parquet(file, metadata=inside)
        else:
            change(pl.read_csv(file, infer_schema=False)).write_csv(file)


def forged(plan: pk.Plan, codes: Mapping[str, Codes], passed: pl.DataFrame | None = None) -> pk.Release:
    """A release of any rows at all, its certificate written as the package would write it."""
    count = len(next(iter(codes.values())))
    central = None if plan.void_reasons else central_of(plan, count)
    certificate = pk.Certificate.of(plan, count, data_digest(plan, codes), central, private=True)
    return pk.Release(plan, certificate, codes, passed)


def reordered(codes: Mapping[str, Codes], order: Any) -> dict[str, Codes]:
    return {name: np.ascontiguousarray(column[order]) for name, column in codes.items()}
