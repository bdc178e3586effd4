"""Files that only their owner reads: written as a whole, on the disk before the call returns."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from .. import _files
from .._errors import EnvironmentFailure


def write_private(path: str | Path, content: bytes, *, replace: bool) -> None:
    """Write a file with the mode 0600; with ``replace`` it takes the place of an older one, else none may be there."""
    path = Path(path)
    unfinished = path.parent / f".{path.name}.{secrets.token_hex(4)}{_files.UNFINISHED}"
    try:
        if not replace:
            _files.check_free(path)
        handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
        _files.sync(path.absolute().parent)
    except OSError as error:
        raise EnvironmentFailure(f"Cannot write {path}: {error.strerror or 'the disk failed'}.") from None
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def destroy(path: str | Path) -> None:
    """Overwrite a file and remove it. Copies, backups and old blocks of a flash disk are beyond reach."""
    path = Path(path)
    try:
        with open(path, "r+b") as file:
            length = file.seek(0, os.SEEK_END)
            file.seek(0)
            file.write(os.urandom(length))
            file.flush()
            os.fsync(file.fileno())
        path.unlink()
        _files.sync(path.absolute().parent)
    except FileNotFoundError:
        return
    except OSError as error:
        raise EnvironmentFailure(f"Cannot remove {path}: {error.strerror or 'the disk failed'}.") from None
