"""One text file in a zip archive, unpacked in memory and never on a disk."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from ...._errors import DataError, InputError, did_you_mean
from ...border import guarded
from ..textformat import TEXT_SUFFIXES, plain_suffix

_ENCRYPTED = 0x1
_LEFT_BY_SYSTEMS = ("__MACOSX/", ".DS_Store")


def unzipped(path: Path, member: str | None) -> tuple[Path, bytes]:
    """The name and the bytes of a file in an archive; which one must be said where there are several."""
    damaged = f"{path} is a damaged or incomplete zip archive."
    packed = io.BytesIO(path.read_bytes())  # in memory: a wrong place in the archive is no failure of the disk
    with guarded(damaged, zipfile.ZipFile, packed) as archive:
        inside = {
            each.filename: each
            for each in archive.infolist()
            if not each.is_dir() and not each.filename.startswith(_LEFT_BY_SYSTEMS)
        }
        name = _chosen(path, list(inside), member)
        if plain_suffix(Path(name)) not in TEXT_SUFFIXES:
            raise InputError(f"The file in {path} has an unknown ending; in an archive it ends in {_endings()}.")
        if inside[name].flag_bits & _ENCRYPTED:
            raise DataError(f"{path} is encrypted; unpack it first.")
        return Path(name), guarded(damaged, archive.read, name)


def _chosen(path: Path, names: list[str], member: str | None) -> str:
    if not names:
        raise DataError(f"{path} holds no file.")
    if member is None:
        if len(names) == 1:
            return names[0]
        raise InputError(
            f"{path} holds {len(names):,} files; name one with member= (--member). {did_you_mean('', names)}"
        )
    if member not in names:
        raise InputError(f"{path} holds no file '{member}'. {did_you_mean(member, names)}")
    return member


def _endings() -> str:
    return ", ".join(TEXT_SUFFIXES)
