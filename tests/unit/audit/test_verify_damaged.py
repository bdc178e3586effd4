"""Random damage to a release folder: verification ends with a verdict or refuses the folder, whatever the bytes are."""

import json
import shutil

import numpy as np
import polars as pl
import pytest
from plans import schema_of
from tampering import cover_up, rehash

import pkanon as pk

DAMAGES = 150
STRANGE = [
    None,
    True,
    0,
    -1,
    7,
    1e300,
    10**30,
    "",
    "?",
    "0",
    "1e9999",
    "NaN",
    "-5",
    "2**",
    "\ud800",
    [],
    [[]],
    {},
    {"": 0},
]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    people = pl.DataFrame({"a0": [1, 2] * 20, "a1": [1, 2, 3, 4] * 10})
    place = tmp_path_factory.mktemp("release") / "out"
    pk.release(people, pk.plan(schema_of((2, 4)), records=40, k="1.5")).save(place, format="both")
    return place


def bytes_damaged(path, draw):
    """A few bytes overwritten, cut out, doubled, or everything after them lost."""
    content = bytearray(path.read_bytes())
    for _ in range(int(draw.integers(1, 4))):
        start = int(draw.integers(0, len(content) + 1))
        stop = min(len(content), start + int(draw.integers(1, 40)))
        piece = content[start:stop]
        match int(draw.integers(0, 5)):
            case 0:
                content[start:stop] = draw.integers(0, 256, len(piece), dtype=np.uint8).tobytes()
            case 1:
                del content[start:stop]
            case 2:
                content[stop:stop] = piece
            case 3:
                del content[start:]
            case _:
                content[start : start + 1] = bytes(
                    b ^ (1 << int(draw.integers(0, 8))) for b in content[start : start + 1]
                )
    path.write_bytes(content)


def entry_damaged(path, draw):
    """An entry of a JSON file removed, or replaced by something strange or by another entry."""
    document = json.loads(path.read_text(encoding="utf-8"))
    parts = [document]
    for part in parts:
        inside = part.values() if isinstance(part, dict) else part
        parts += [value for value in inside if isinstance(value, (dict, list)) and value]
    part = parts[int(draw.integers(len(parts)))]
    keys = list(part) if isinstance(part, dict) else list(range(len(part)))
    key = keys[int(draw.integers(len(keys)))]
    match int(draw.integers(0, 4)):
        case 0:
            del part[key]
        case 1:
            part[key] = part[keys[int(draw.integers(len(keys)))]]
        case _:
            part[key] = STRANGE[int(draw.integers(len(STRANGE)))]
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")


def test_random_damage_gives_a_verdict(saved, tmp_path, seed):
    draw = np.random.default_rng(seed)
    names = sorted(path.name for path in saved.iterdir())
    texts = [name for name in names if name.endswith(".json")]
    verdicts = []
    for number in range(DAMAGES):
        folder = tmp_path / str(number)
        shutil.copytree(saved, folder)
        if number % 2:
            name = texts[int(draw.integers(len(texts)))]
            entry_damaged(folder / name, draw)
        else:
            name = names[int(draw.integers(len(names)))]
            bytes_damaged(folder / name, draw)
        if number % 4 >= 2 and name not in ("datapackage.json", "data.parquet"):  # as a cheat would do it
            inside = number % 8 >= 4 and name != "data.csv" and is_text(folder / name)
            (cover_up if inside else rehash)(folder)
        try:
            found = pk.verify(folder)
        except pk.InputError:
            verdicts.append("refused")
            continue
        assert str(found)
        assert json.dumps(found.to_json())
        if found.ok:
            assert all(meaning(folder / other) == meaning(saved / other) for other in (*texts, "README.txt")), number
        verdicts.append("broken" if not found.ok else "kept")
    assert verdicts.count("broken") > 0.9 * DAMAGES


def is_text(path):
    try:
        path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return False
    return True


def meaning(path):
    """What a file says, hashes aside, which a cheat corrects."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        document = json.loads(text)
        if path.name == "datapackage.json":
            document["pkanon"] = document["pkanon"]["rows"]
            document["resources"] = [part | {"hash": None} for part in document["resources"]]
        return document
    return text
