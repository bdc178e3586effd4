"""A fitted model as the bytes of a file, so that it need not be fitted again: numpy arrays in a zip file, no code.

digest   that of the released rows it was fitted to; a model of other rows is refused
report   how the search ended, as JSON
weights, tables   one row per class, of all starts; ``starts`` says how many classes each has,
                  ``ridges`` and ``shares`` how it was fitted and its part in the mean
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from ..._blocks import Block
from ..._errors import DataError
from ..._schema import Codes
from .choosing import ModelReport
from .fitted import Fitted, kept_model

VERSION = 2


def model_bytes(model: Fitted, digest: str) -> bytes:
    """The content of a file that keeps the model of the rows with this ``digest``."""
    file = io.BytesIO()
    np.savez(
        file,
        version=np.array(VERSION),
        digest=np.array(digest),
        report=np.array(json.dumps(asdict(model.report))),
        starts=np.array([len(start.weights) for start in model.starts]),
        ridges=np.array([start.ridge for start in model.starts]),
        shares=np.array([start.share for start in model.starts]),
        weights=np.concatenate([start.weights for start in model.starts]),
        tables=np.concatenate([start.tables for start in model.starts]),
    )
    return file.getvalue()


def model_from_bytes(
    content: bytes, name: str, digest: str, blocks: Sequence[Block], codes: Mapping[str, Codes]
) -> Fitted:
    """The model in the file ``name``, of the released rows with this ``digest``; anything else is refused."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as found:
            parts = {key: found[key] for key in found.files}
        report = json.loads(str(parts["report"]))
        report["tried"] = tuple((int(classes), float(misfit)) for classes, misfit in report["tried"])
        report["ridges"] = tuple((float(ridge), float(share)) for ridge, share in report["ridges"])
        made, whose = ModelReport(**report), (int(parts["version"]), str(parts["digest"]))
        ends = np.cumsum(parts["starts"])[:-1]
        weights, tables = (np.asarray(parts[name], np.float64) for name in ("weights", "tables"))
        ridges, shares = (np.asarray(parts[name], np.float64) for name in ("ridges", "shares"))
        starts = list(zip(np.split(weights, ends), np.split(tables, ends), ridges, shares, strict=True))
    except (OSError, EOFError, ValueError, KeyError, TypeError, NotImplementedError, zipfile.BadZipFile, zlib.error):
        raise DataError(
            f"{name} holds no model that pkanon wrote; name another file, or remove it, and the model is fitted again."
        ) from None
    if whose != (VERSION, digest):
        raise DataError(f"{name} holds the model of another release; name another file, or remove it.")
    model = kept_model(blocks, codes, starts, made)
    if not _are_shares(model, len(weights)):
        raise DataError(f"{name} does not fit this release; remove it, and the model is fitted again.")
    return model


def _are_shares(model: Fitted, classes: int) -> bool:
    """Whether the classes of each start, and in each class the values of each variable, have shares: none negative, sum 1."""
    layout = model.seen.layout
    if sum(len(start.weights) for start in model.starts) != classes:
        return False
    if any(start.ridge <= 0 or not 0 < start.share <= 1 for start in model.starts):
        return False
    for start in model.starts:
        if not len(start.weights) or start.tables.shape != (len(start.weights), layout.length):
            return False
        sums = [start.weights.sum(), *np.add.reduceat(start.tables, layout.starts, axis=1).ravel()]
        if min(start.weights.min(), start.tables.min()) < 0 or not np.allclose(sums, 1.0, atol=1e-9):
            return False
    return True
