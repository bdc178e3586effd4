"""Merges as people write them down: in a TOML or JSON file, or in a few words on the command line.

A file has one entry per attribute:

    age = [0, 15, 65]

    [education]
    school = ["9th", "10th"]
    degree = ["BA", "MA"]
    less = "*"

In words the same is ``age:0,15,65`` and ``education:school=9th|10th,degree=BA|MA,less=*``. Names and values that hold one of
``: , = |`` need a file.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from .._errors import InputError
from .groups import REST, Merge

SUFFIXES = (".toml", ".json")
_WORDS = "write education:school=9th|10th,degree=BA|MA or age:0,15,65, or name a .toml or .json file"


def read_merge(source: str | Path) -> Merge:
    """Which values to merge, from a file or from words; the result is what ``merge`` of :meth:`Release.crosstab` takes.

    Parameters
    ----------
    source
        A TOML or JSON file with one entry per attribute: groups with lists of their values, or a list of edges. Or words such
        as "education:school=9th|10th,degree=BA|MA" and "age:0,15,65".

    Examples
    --------
    >>> import pkanon as pk
    >>> pk.read_merge("education:school=9th|10th,more=*")
    {'education': {'school': ['9th', '10th'], 'more': '*'}}
    >>> pk.read_merge("age:0,15,65")
    {'age': ['0', '15', '65']}
    """
    path = Path(source)
    if path.suffix.lower() in SUFFIXES:
        return _checked(_file(path), str(source))
    return _words(str(source))


def read_values(path: str | Path) -> dict[str, dict[str, float | tuple[float, float] | None]]:
    """The numbers that labels stand for, from a file; the result is what ``values`` of :meth:`Release.regress` takes.

    Parameters
    ----------
    path
        A TOML or JSON file with one entry per attribute: its labels with a number, or with the two limits of an interval. In
        JSON null leaves people out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pkanon as pk
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "values.toml"
    >>> _ = file.write_text('[income]\\nnone = 0\\n"1-9999" = [1, 10000]\\n')
    >>> pk.read_values(file)
    {'income': {'none': 0.0, '1-9999': (1.0, 10000.0)}}
    """
    place = Path(path)
    if place.suffix.lower() not in SUFFIXES:
        raise InputError(f"{path}: numbers of labels are read from a .toml or .json file.")
    found = _file(place)
    if not isinstance(found, dict) or not all(isinstance(numbers, dict) for numbers in found.values()):
        raise InputError(
            f'{path} must have one entry per attribute, with a number for each label: {{"age": {{"0-17": 9}}}}.'
        )
    return {
        name: {label: _stands_for(number, name, label, path) for label, number in numbers.items()}
        for name, numbers in found.items()
    }


def _stands_for(number: Any, name: str, label: str, path: str | Path) -> float | tuple[float, float] | None:
    ends = number if isinstance(number, list) else [number, number]
    if number is None:
        return None
    if len(ends) != 2 or not all(isinstance(end, (int, float)) and not isinstance(end, bool) for end in ends):
        raise InputError(f"{path}: '{label}' of '{name}' stands for a number, or for two limits: [0, 10].")
    return (float(ends[0]), float(ends[1])) if isinstance(number, list) else float(number)


def _file(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror or 'the disk failed'}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text.") from None
    try:
        return json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except (json.JSONDecodeError, tomllib.TOMLDecodeError) as error:
        kind = path.suffix.removeprefix(".").upper()
        raise InputError(f"{path} is not valid {kind}: {str(error).split(chr(10))[0]}.") from None
    except RecursionError:
        raise InputError(f"{path} is nested too deeply.") from None


def _checked(found: Any, source: str) -> Merge:
    if not isinstance(found, dict):
        raise InputError(
            f'{source}: write one entry per attribute, such as education = {{ school = ["9th", "10th"] }}.'
        )
    for name, rule in found.items():
        if not isinstance(rule, (dict, list)):
            raise InputError(f"{source}: '{name}' takes groups with lists of their values, or a list of edges.")
    return found


def _words(text: str) -> Merge:
    name, colon, rule = text.partition(":")
    parts = [part.strip() for part in rule.split(",")]
    if not colon or not name.strip() or not all(parts):
        raise InputError(f"'{text}' says no merge; {_WORDS}.")
    named = ["=" in part for part in parts]
    if not any(named):
        return {name.strip(): parts}
    groups: dict[str, Any] = {}
    for part, is_named in zip(parts, named):
        label, _, members = part.partition("=")
        values = [value.strip() for value in members.split("|")]
        if not is_named or not label.strip() or not all(values) or "=" in members:
            raise InputError(f"'{part}' in a merge of '{name.strip()}' names no group with its values; {_WORDS}.")
        if label.strip() in groups:
            raise InputError(f"The group '{label.strip()}' of '{name.strip()}' is there twice; name it once.")
        groups[label.strip()] = REST if values == [REST] else values
    return {name.strip(): groups}
