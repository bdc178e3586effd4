"""What is left when a release of a table larger than memory fails: a sentence, and nothing else."""

import gzip
import os
import resource
import signal
import stat
import subprocess
import sys
import time
from contextlib import suppress

import numpy as np
import polars as pl
import pytest
from streaming import MANY, streamed

import pkanon as pk
from pkanon._engines.streaming.spool import Spool
from pkanon._sample import Keystream, order_words

MARKER = "Zaphod-Beeblebrox-of-Betelgeuse"
SCHEMA = f"""\
confirmed_by = "A. Example, registrar"
row_is = "one patient"
[attributes.patient]
role = "id"
[attributes.sex]
values = ["F", "M"]
[attributes.town]
values = ["{MARKER}", "elsewhere"]
[attributes.age]
type = "integer"
range = [0, 99]
[[bundles]]
attributes = ["sex", "age"]
forbid = [{{ sex = ["M"], age = [99] }}]
"""
ROWS = 60_000


def people(rows=ROWS):
    number = np.arange(rows)
    return pl.DataFrame(
        {
            "patient": [f"{MARKER}-{i}" for i in range(rows)],
            "sex": np.where(number % 2 == 0, "F", "M"),
            "town": np.where(number % 3 == 0, MARKER, "elsewhere"),
            "age": number % 99,
        }
    )


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.toml").write_text(SCHEMA)
    pk.plan(pk.read_schema("people.toml"), records=ROWS, k=5).save("plan.json")
    (tmp_path / "in").mkdir()
    return tmp_path


def release(*arguments, output="out", **options):
    command = [sys.executable, "-m", "pkanon", "release", *arguments, "--plan", "plan.json", "-o", output]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([*command, "--memory", "20MB"], **pipes, **options)


def refused(process, code, *words):
    out, err = process.communicate(timeout=120)
    assert process.returncode == code, err
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert MARKER not in err
    for word in words:
        assert word in err
    return err


def left(folder):
    return sorted(path.name for path in folder.iterdir() if path.name not in ("in", "people.toml", "plan.json"))


def test_a_value_outside_of_the_domain_in_the_last_row(place):
    table = people()
    table[ROWS - 1, "town"] = "Marvin"
    table.write_parquet("in/people.parquet")
    err = refused(
        release("in/people.parquet"), 2, "Column 'town': some rows hold a value that the schema does not list"
    )
    assert "Marvin" not in err
    assert left(place) == []


def test_a_forbidden_combination_in_the_last_row_is_counted_if_asked(place):
    table = people().with_columns(age=pl.when(pl.col("patient").str.ends_with("59999")).then(99).otherwise("age"))
    table.write_csv("in/people.csv")
    refused(release("in/people.csv"), 2, "Some rows hold a combination of sex, age that the schema forbids")
    count = int((table["age"] == 99).sum())
    refused(
        release("in/people.csv", "--exact-counts"),
        2,
        f"{'1 row holds' if count == 1 else f'{count} rows hold'} a combination",
    )
    assert left(place) == []


def test_an_id_that_is_there_twice(place):
    table = people()
    table[ROWS - 1, "patient"] = table[3, "patient"]
    table.write_parquet("in/people.parquet")
    refused(release("in/people.parquet"), 2, "The id column 'patient' repeats: some rows share an id")
    refused(release("in/people.parquet", "--exact-counts"), 2, "2 rows share an id")
    assert left(place) == []


def test_an_id_that_is_missing(place):
    table = people().with_columns(patient=pl.when(pl.col("age") == 98).then(None).otherwise("patient"))
    table.write_parquet("in/people.parquet")
    refused(release("in/people.parquet"), 2, "some rows have no id")


def test_check_says_what_release_would_say(place):
    table = people()
    plan = pk.read_plan("plan.json")
    assert pk.check(table, plan, memory="20MB") == {}
    wrong = {
        "does not list": table.with_columns(town=pl.lit("Marvin")),
        "2 rows share an id": pl.concat([table, table[:1]]),
        "304 rows hold a combination": table.with_columns(
            age=pl.when((pl.col("age") == 1) & (pl.col("sex") == "M")).then(99).otherwise("age")
        ),
        "plan was made for": table[1:],
    }
    for sentence, each in wrong.items():
        messages = []
        for memory in (None, "20MB"):
            with pytest.raises(pk.InputError, match=sentence) as caught:
                pk.check(each, plan, exact_counts=True, memory=memory)
            messages.append(str(caught.value))
        assert messages[0] == messages[1]


def test_a_pipe_is_read_once_only(place):
    os.mkfifo("in/people.csv")
    refused(release("in/people.csv"), 2, "in/people.csv is a pipe", "standard input (-)")
    assert left(place) == []


def test_fewer_rows_than_planned(place):
    people(ROWS - 1).write_parquet("in/people.parquet")
    refused(release("in/people.parquet"), 2, "59,999 rows and the plan was made for 60,000")
    assert left(place) == []


@pytest.mark.parametrize("form", ["parquet", "csv.gz"])
def test_an_unreadable_file_among_a_hundred(place, form):
    table = people()
    size = ROWS // 100
    for number in range(100):
        part = table[number * size : (number + 1) * size]
        content = gzip.compress(part.write_csv().encode()) if form == "csv.gz" else as_parquet(part)
        if number == 49:
            content = content[: len(content) // 2]
        (place / "in" / f"part-{number:03}.{form}").write_bytes(content)
    refused(release(f"in/*.{form}"), 2, f"part-049.{form} is", "complete")
    refused(release("in"), 2, f"part-049.{form} is")
    assert left(place) == []


@pytest.mark.parametrize("place_of", ["in", "in/*.parquet"])
def test_a_link_to_a_file_that_is_not_there(place, place_of):
    """Its people would be missing without a word where fewer rows are accepted."""
    people().write_parquet("in/a.parquet")
    (place / "in" / "b.parquet").symlink_to(place / "moved.parquet")
    refused(release(place_of), 2, "b.parquet is a link to a file that is not there")
    assert left(place) == []


def as_parquet(frame):
    from io import BytesIO

    stream = BytesIO()
    frame.write_parquet(stream)
    return stream.getvalue()


def test_files_with_other_columns(place):
    table = people()
    table[:100].write_parquet("in/a.parquet")
    table[100:].drop("age").write_parquet("in/b.parquet")
    refused(release("in"), 2, "b.parquet has other columns than", "a.parquet")
    (place / "in" / "c.csv").write_text("a\n1\n")
    refused(release("in"), 2, "several formats (.csv, .parquet)")
    refused(release("in/*.sav"), 2, "holds no table")


def test_a_disk_that_is_full(place):
    """A file system of 1 MiB: there is no room for the temporary files, nor for the release."""
    people().write_parquet("in/people.parquet")
    small = place / "small"
    small.mkdir()
    room = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(small)], capture_output=True)
    try:
        # who may not mount limits the size of files: that is the next best thing
        process = release("in/people.parquet", output="small/out", preexec_fn=None if room.returncode == 0 else limited)
        refused(process, 3, "Temporary files", "No space left" if room.returncode == 0 else "File too large")
        assert list(small.iterdir()) == []
    finally:
        if room.returncode == 0:
            subprocess.run(["umount", str(small)], check=True)


def limited():
    resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))


def test_temporary_files_have_no_names_and_are_private(place, tmp_path):
    """Seen from inside, while rows are on their way: every one of them has no link and can be used by its owner alone."""
    people().write_parquet("in/people.parquet")
    plan = pk.read_plan("plan.json")
    spool = tmp_path / "spool"
    spool.mkdir()
    seen, contents, held = [], [], {}

    def watch(step, done):
        assert list(spool.iterdir()) == []
        sizes = []
        for handle in os.listdir("/proc/self/fd"):
            with suppress(OSError):  # another thread has closed it
                if not os.readlink(f"/proc/self/fd/{handle}").startswith(str(spool)):
                    continue
                with open(f"/proc/self/fd/{handle}", "rb") as file:
                    about = os.fstat(file.fileno())
                    if stat.S_ISREG(about.st_mode):
                        seen.append((step, about.st_nlink, stat.S_IMODE(about.st_mode)))
                        sizes.append(about.st_size)
                        contents.append(file.read())
        held.setdefault(step, []).append(sum(sizes))

    made = streamed(place / "in" / "people.parquet", plan, spool, MANY, progress=watch)
    watch("after", 1.0)
    assert {links for _, links, _ in seen} == {0}
    assert {mode for _, _, mode in seen} == {0o600}
    assert {"reading", "shuffling", "after"} <= {step for step, _, _ in seen}
    assert held["reading"][-1] > 24 * ROWS  # 16 for the ids, 8 for the order, and codes
    # buckets that are sorted give their space back, and so do ids
    assert held["shuffling"][-1] == held["after"][-1] == 3 * ROWS
    searched = b"".join(contents)
    for marker in (MARKER, "elsewhere", "patient"):
        assert marker.encode() not in searched
    assert made.rows == ROWS


def order_words_found(place, spool):
    """How many of the order words of the first rows can be read in the temporary files of a release."""
    words = order_words(0, 50, Keystream(pk.Seeded(7).key()))
    contents = []

    def watch(step, done):
        for handle in os.listdir("/proc/self/fd") if step == "reading" and done == 1.0 else ():
            with suppress(OSError):
                if os.readlink(f"/proc/self/fd/{handle}").startswith(str(spool)):
                    with open(f"/proc/self/fd/{handle}", "rb") as file:
                        contents.append(file.read())

    streamed(place / "in" / "people.parquet", pk.read_plan("plan.json"), spool, MANY, progress=watch)
    return sum(word.tobytes() in b"".join(contents) for word in words)


def test_temporary_files_tell_nothing_about_the_order_of_the_table(place, monkeypatch):
    """They are read by whoever gets hold of the disk; rows are there before they are shuffled, with the words that shuffle them."""
    people().write_parquet("in/people.parquet")
    spool = place / "spool"
    spool.mkdir()
    assert order_words_found(place, spool) == 0
    plain = type("Plain", (), {"update": lambda self, data: bytes(data)})
    monkeypatch.setattr(Spool, "_cipher", lambda self, offset: plain())
    assert order_words_found(place, spool) == 50  # the search would have found them


def test_what_is_read_is_what_was_written(tmp_path, monkeypatch):
    """At any place, in pieces other than it was written in, and never enciphered as it was in another place or file."""
    monkeypatch.setattr("pkanon._engines.streaming.spool._CHUNK", 48)
    content = np.random.default_rng(1).integers(0, 256, 1_000, np.uint8)
    spool, stored = Spool(tmp_path), []
    for start, stop in ((500, 1_000), (7, 500), (0, 0), (0, 7)):
        spool.write(content[start:stop], start)
    for start, stop in ((0, 1_000), (1, 2), (15, 17), (16, 333), (999, 1_000), (5, 5)):
        found = np.empty(stop - start, np.uint8)
        spool.read(found, start)
        np.testing.assert_array_equal(found, content[start:stop])
    for each in (spool, Spool(tmp_path)):
        each.write(bytes(4_096), 1_000)
        stored.append(os.pread(each._file.fileno(), 4_096, 1_000))
        each.close()
    blocks = {text[start : start + 16] for text in stored for start in range(8, 4_088, 16)}  # whole ones, from 1,008 on
    assert len(blocks) == 2 * 255


def test_fingerprints_of_ids_are_unlike_in_another_run(place, tmp_path):
    from pkanon._engines.streaming.ids import Fingerprints

    ids = pl.Series(["a", "b", "a"])
    runs = [Fingerprints("patient", tmp_path, 1) for _ in range(2)]
    one, other = (run._of(ids)[0].tolist() for run in runs)
    assert one[0] == one[2] != one[1]
    assert not set(one) & set(other)
    for run in runs:
        run.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_interrupted_at_any_moment(place, number):
    """The output is there as a whole or not at all; what a killed process leaves behind is gone after the next start."""
    people().write_parquet("in/people.parquet")
    for delay in (0.6, 1.0, 1.4, 1.8):
        process = release("in/people.parquet")
        time.sleep(delay)
        process.send_signal(number)
        process.communicate(timeout=120)
        found = left(place)
        if number != signal.SIGKILL:
            assert found in ([], ["out"])
        if "out" in found:
            assert not pk.verify("out").broken
            for path in (place / "out").iterdir():
                path.unlink()
            (place / "out").rmdir()
    process = release("in/people.parquet")
    process.communicate(timeout=120)
    assert process.returncode == 0
    assert left(place) == ["out"]


def test_what_a_killed_process_left_is_removed_and_nothing_else(place):
    from pkanon import _files

    dead = place / ".out.0123abcd.incomplete"
    dead.mkdir()
    (dead / "data.parquet").write_bytes(b"half")
    others = [".other.0123abcd.incomplete", ".out.0123abcd.incomplete.txt", "out.incomplete"]
    for name in others:
        (place / name).mkdir()
    alive = {}

    def fill(folder):
        alive[folder.name] = (folder / "x").write_text("x")
        _files.remove_unfinished(place / "out")
        assert (folder / "x").exists()  # it is locked: its process is alive
        assert not dead.exists()

    dead_again = place / ".out.99999999.incomplete"
    dead_again.mkdir()
    _files.write_folder(place / "out", fill)
    assert not dead_again.exists()
    assert (place / "out" / "x").exists()
    assert all((place / name).exists() for name in others)
