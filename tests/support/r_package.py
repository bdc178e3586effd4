"""The package in r/: installing it, and running scripts that use it."""

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "r"


def program(name: str) -> str:
    """Where R or Rscript is."""
    found = shutil.which(name)
    assert found, f"{name} is not installed; 'make test' installs it where apt-get exists (CONTRIBUTING.md)"
    return found


def environment(library: Path | None = None) -> dict[str, str]:
    """English messages, UTF-8, and a library besides those of the system."""
    # R_LIBS only where one is asked for, so that a package of the same name elsewhere is not found
    own = {} if library is None else {"R_LIBS": str(library)}
    return {**os.environ, "LC_ALL": "C.UTF-8", "LANGUAGE": "en", **own}


def run(arguments: list[str], folder: Path, library: Path | None = None, seconds: int = 300) -> tuple[int, str]:
    """The exit code of a command and what it printed."""
    done = subprocess.run(
        arguments,
        cwd=folder,
        env=environment(library),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=seconds,
        check=False,
    )
    return done.returncode, done.stdout


def install(library: Path) -> Path:
    """The package, installed into a new library; ``r/`` itself stays as it is."""
    library.mkdir()
    source = library.parent / f"{library.name}-source"
    shutil.copytree(PACKAGE, source)
    code, printed = run(
        [program("R"), "CMD", "INSTALL", "--no-docs", "--no-test-load", "-l", str(library), str(source)], library
    )
    assert code == 0, printed
    return library


def script(text: str, folder: Path, library: Path) -> tuple[int, str]:
    """The exit code and the output of lines of R that may use the package."""
    (folder / "script.R").write_text(f"library(pkanon)\n{text}\n", encoding="utf-8")
    return run([program("Rscript"), "--vanilla", "script.R"], folder, library)
