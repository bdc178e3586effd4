"""Text files that are never overwritten."""

from __future__ import annotations

from pathlib import Path

from ._errors import EnvironmentFailure, InputError


def write_new(path: str | Path, text: str) -> None:
    """Write a text to a file that does not exist yet."""
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(f"{path} exists already and is never overwritten; choose another name.") from None
    except FileNotFoundError:
        raise InputError(f"Cannot write {path}: its folder does not exist.") from None
    except OSError as error:
        raise EnvironmentFailure(f"Cannot write {path}: {error.strerror}.") from None
