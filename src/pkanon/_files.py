"""Files and folders that are never half-written, and never overwritten unless that is asked for; canonical JSON and its digest.

Canonical JSON has sorted keys, no spaces, UTF-8 and no floats, so that a digest means the same everywhere. Exact
numbers are written as strings, because JavaScript and R read JSON numbers as doubles.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ._errors import EnvironmentFailure, InputError

UNFINISHED = ".incomplete"
"""Suffix of a file or folder that is still being written."""


def check_free(path: str | Path) -> None:
    """Refuse a path that no file or folder can be written to: it exists, or its folder does not."""
    path = Path(path)
    if path.exists() or path.is_symlink():
        raise InputError(f"{path} exists already and is never overwritten; choose another name.")
    if not path.absolute().parent.is_dir():
        raise InputError(f"Cannot write {path}: its folder does not exist; create it first.")


def write_new(path: str | Path, content: str | bytes, *, confidential: bool = False) -> None:
    """Write a text (as UTF-8) or bytes to a file that does not exist yet; all of it, or nothing.

    It is written under another name in the same folder, and gets its own when it is complete. One that is ``confidential``
    can be read by its owner only.
    """

    def fill(unfinished: Path) -> None:
        with open(unfinished, "xb", opener=_owner_only if confidential else None) as file:
            file.write(content.encode() if isinstance(content, str) else content)

    write_file(path, fill)


def write_file(path: str | Path, fill: Callable[[Path], None]) -> None:
    """Let ``fill`` write a file of another name in the same folder, and name it when it is complete: all of it, or nothing."""
    path = Path(path)
    unfinished = path.parent / f".{path.name}.{os.urandom(4).hex()}{UNFINISHED}"
    try:
        check_free(path)
        fill(unfinished)
        _name(unfinished, path)
    except OSError as error:
        raise EnvironmentFailure(f"Cannot write {path}: {error.strerror or 'the disk failed'}.") from None
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def write_over(path: str | Path, content: bytes, *, instead_of: bytes) -> None:
    """Put ``content`` in the place of a file that holds ``instead_of``; all of it, or nothing. One that changed is refused."""
    path = Path(path).resolve()  # a link stays a link
    unfinished = path.parent / f".{path.name}.{os.urandom(4).hex()}{UNFINISHED}"
    try:
        with open(unfinished, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(path, unfinished)
        if path.read_bytes() != instead_of:
            raise InputError(f"{path.name} has changed meanwhile and is left as it is; start again.")
        os.replace(unfinished, path)
    except OSError as error:
        raise EnvironmentFailure(f"Cannot write {path}: {error.strerror or 'the disk failed'}.") from None
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def _owner_only(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _name(unfinished: Path, path: Path) -> None:
    """Give a complete file its name; one that appeared meanwhile is not overwritten."""
    try:
        os.link(unfinished, path)  # a rename would overwrite
    except OSError:  # it exists, or the file system has no links
        check_free(path)
        os.rename(unfinished, path)


def check_writable(path: str | Path) -> None:
    """Refuse at once a folder that could not be written after minutes of computing."""
    write_folder(path, lambda _: None, keep=False)


def write_folder(path: str | Path, fill: Callable[[Path], None], *, keep: bool = True) -> None:
    """Let ``fill`` write into a folder of another name, and rename it when it is complete: all of it, or nothing."""
    path = Path(path)
    check_free(path)
    remove_unfinished(path)
    failed: OSError | None = None
    unfinished, lock = path, -1
    try:
        unfinished, lock = _locked_folder(path)
        fill(unfinished)
        if keep:
            check_free(path)  # filling takes a while, and a rename would replace an empty folder
            os.rename(unfinished, path)
            sync(path.parent)
        else:
            unfinished.rmdir()
    except BaseException as error:
        with suppress(OSError):
            if unfinished != path:
                shutil.rmtree(unfinished)
        if not isinstance(error, OSError):
            raise
        failed = error
    finally:
        if lock >= 0:
            os.close(lock)
    if failed is not None:
        raise EnvironmentFailure(f"Cannot write {path}: {failed.strerror or 'the disk failed'}.")


def _locked_folder(path: Path) -> tuple[Path, int]:
    """A new folder beside ``path``, and a lock on it that ends with this process."""
    while True:
        unfinished = path.parent / f".{path.name}.{os.urandom(4).hex()}{UNFINISHED}"
        unfinished.mkdir()
        lock = os.open(unfinished, os.O_RDONLY)
        if _lock(lock) is not False and unfinished.exists():
            return unfinished, lock
        os.close(lock)  # somebody took it for one that was left behind


def remove_unfinished(path: str | Path) -> None:
    """Remove what processes have left behind that were killed while they wrote ``path``: nobody holds a lock on it."""
    path = Path(path)
    pattern = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{8}}{re.escape(UNFINISHED)}")
    with suppress(OSError):
        for other in path.absolute().parent.iterdir():
            if pattern.fullmatch(other.name) and other.is_dir() and not other.is_symlink():
                lock = os.open(other, os.O_RDONLY)
                try:
                    if _lock(lock):
                        shutil.rmtree(other, ignore_errors=True)
                finally:
                    os.close(lock)


def _lock(handle: int) -> bool | None:
    """Whether the lock on an open folder is ours now; None where there are no such locks."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return None
    return True


def sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def parse_json(text: str) -> Any:
    """The value of a JSON text; a ValueError if it has none, or if a key is given twice.

    A key given twice would be read one way here and another way elsewhere.
    """
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except RecursionError:
        pass
    raise ValueError("the JSON text is nested too deeply")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise ValueError("a key is given twice")
    return data


_quoted = json.encoder.encode_basestring


def canonical(value: Any) -> bytes:
    """The UTF-8 JSON text of ``value`` with sorted keys and no spaces."""
    _refuse_floats(value)
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def digest(value: Any) -> str:
    """SHA-256 of the canonical text, in hexadecimal."""
    return hashlib.sha256(canonical(value)).hexdigest()


def _refuse_floats(value: Any) -> None:
    if isinstance(value, float):
        raise TypeError("a canonical JSON value holds no floats; write the number as a string")
    if isinstance(value, dict):
        for item in value.values():
            _refuse_floats(item)
    elif isinstance(value, (list, tuple)) and not set(map(type, value)) <= {str}:  # a million labels are looked at once
        for item in value:
            _refuse_floats(item)


def laid_out(value: Any, margin: str = "") -> str:
    """What ``json.dumps(value, indent=1, ensure_ascii=False)`` gives, sooner where lists of texts are long."""
    if isinstance(value, dict):
        inside, brackets = [f"{_quoted(key)}: {laid_out(item, margin + ' ')}" for key, item in value.items()], "{}"
    elif isinstance(value, (list, tuple)):
        texts = set(map(type, value)) <= {str}
        inside, brackets = (
            list(map(_quoted, value)) if texts else [laid_out(item, margin + " ") for item in value],
            "[]",
        )
    else:
        return json.dumps(value, ensure_ascii=False)
    if not inside:
        return brackets
    between = f",\n{margin} "
    return f"{brackets[0]}\n{margin} {between.join(inside)}\n{margin}{brackets[1]}"
