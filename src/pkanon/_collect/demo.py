"""The pilot of a small survey that comes with pkanon."""

from __future__ import annotations

import random
from importlib import resources
from pathlib import Path

import numpy as np

from .._errors import EnvironmentFailure
from .._files import check_free
from .._progress import Progress, quiet
from .pilot import Pilot, tried
from .survey import new

PEOPLE = 2_000
K = 20


def demonstrate(folder: Path, *, people: int = PEOPLE, k: int = K, progress: Progress = quiet) -> Pilot:
    """A survey of simulated people in a new folder: survey.toml, survey/, answers.db and release/."""
    check_free(folder)
    progress("planning", 0)
    toml = resources.files("pkanon._collect").joinpath("demo.toml")
    with resources.as_file(toml) as path:
        survey = new(path, records=people, k=k)
    progress("planning", 1)
    true = np.array([_person(random.Random(f"person {number}")) for number in range(people)])
    done = tried(survey, folder, dict(zip(survey.plan.schema.names, true.T)), progress)
    try:
        (folder / "survey.toml").write_bytes(toml.read_bytes())
    except OSError as error:
        raise EnvironmentFailure(f"Cannot write {folder}: {error.strerror}.") from None
    return done


def _person(rng: random.Random) -> list[int]:
    """Somebody's true answers. People in the workshop smoke more, and smokers take more breaks."""
    department = rng.choices((0, 1, 2), (55, 30, 15))[0]
    smokes = int(rng.random() < (0.15, 0.4, 0.25)[department])
    breaks = rng.choices((0, 1, 2, 3), (10, 40, 35, 15) if not smokes else (3, 17, 40, 40))[0]
    return [smokes, department, breaks]
