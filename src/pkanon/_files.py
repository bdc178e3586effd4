"""Files that are never overwritten and never half-written."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from ._errors import EnvironmentFailure, InputError


def write_new(path: str | Path, content: str | bytes) -> None:
    """Write a text (as UTF-8) or bytes to a file that does not exist yet; all of it, or nothing."""
    created = False
    try:
        with open(path, "xb") as file:
            created = True
            file.write(content.encode() if isinstance(content, str) else content)
    except FileExistsError:
        raise InputError(f"{path} exists already and is never overwritten; choose another name.") from None
    except FileNotFoundError:
        raise InputError(f"Cannot write {path}: its folder does not exist.") from None
    except OSError as error:
        _remove(path, created)
        raise EnvironmentFailure(f"Cannot write {path}: {error.strerror}.") from None
    except BaseException:
        _remove(path, created)
        raise


def _remove(path: str | Path, created: bool) -> None:
    if created:
        with suppress(OSError):
            Path(path).unlink()
