"""A full disk, Ctrl-C and kill -9 in the middle: no folder that looks like a release."""

import resource
import shutil
import signal
import subprocess
import sys
import time

import pytest

import pkanon as pk
from pkanon import _cli
from pkanon._frames import guarded

LARGE = 300_000
STARTING = (1, -signal.SIGINT)
"""How Python itself ends when it is interrupted before the program has begun."""


def look_alikes(folder):
    """Folders that could be taken for a release."""
    found = []
    for path in folder.iterdir():
        if path.is_dir():
            try:
                pk.open_release(path)
            except pk.PkanonError:
                if (path / "datapackage.json").exists() and not path.name.endswith(".incomplete"):
                    found.append(path.name)
            else:
                found.append(path.name)
    return found


@pytest.fixture
def large(place):
    lines = (place.folder / "people.csv").read_text().splitlines()
    body = [line.partition(",")[2] for line in lines[1:]]
    place.write("people.csv", "sex,age,education\n" + "\n".join(body * (LARGE // len(body))) + "\n")
    place.write(
        "people.toml",
        (place.folder / "people.toml").read_text().partition("[attributes.sex]")[2].join(["[attributes.sex]", ""]),
    )
    place.write("plan.json", "")
    (place.folder / "plan.json").unlink()
    code, _, err = place.run("plan", "people.toml", "--records", "200", "--k", "3", "-o", "plan.json")
    assert code == 0, err
    return place


def test_no_disk_space(large):
    def little_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))  # every write beyond 4 KiB fails, like on a full disk

    process = large.start("release", "people.csv", "--plan", "plan.json", "-o", "out", preexec_fn=little_room)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert large.names() == ["people.csv", "people.toml", "plan.json"]


def test_no_disk_space_for_csv(large):
    def little_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    process = large.start(
        "release", "people.csv", "--plan", "plan.json", "-o", "out", "--format", "csv", preexec_fn=little_room
    )
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert err.startswith("error: ")
    assert large.names() == ["people.csv", "people.toml", "plan.json"]


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGKILL, signal.SIGTERM])
def test_interrupted_at_any_moment(large, signal_number):
    """Whenever the signal comes: either the whole release is there, or nothing that looks like one."""
    outcomes = set()
    for step, delay in enumerate((0.05, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.1)):
        process = large.start("release", "people.csv", "--plan", "plan.json", "-o", f"out{step}")
        time.sleep(delay)
        process.send_signal(signal_number)
        _, err = process.communicate(timeout=60)
        done = process.returncode == 0
        outcomes.add(done)
        whole = (large.folder / f"out{step}").exists()  # the signal may also come right after the last step
        assert whole or not done
        assert look_alikes(large.folder) == ([f"out{step}"] if whole else [])
        if whole:
            assert pk.open_release(large.folder / f"out{step}").rows == LARGE
            shutil.rmtree(large.folder / f"out{step}")
        if signal_number == signal.SIGINT and not done and process.returncode not in STARTING:
            # 3: polars took the signal for itself and the table that it cut short was refused
            assert process.returncode in (130, 3), err
            assert "Traceback" not in err
    assert False in outcomes  # at least one run was interrupted


class Stopping:
    """Stops the program while a class is made, which Python says in a RuntimeError."""

    def __init__(self, how):
        self.how = how

    def __set_name__(self, owner, name):
        raise self.how


def make_a_class(how):
    return type("Made", (), {"name": Stopping(how)})


@pytest.mark.parametrize(("how", "code"), [(KeyboardInterrupt, 130), (_cli._Terminated, 143), (ValueError, 3)])
def test_a_signal_that_comes_while_a_module_is_loaded_is_no_bug(how, code, monkeypatch, capsys):
    monkeypatch.setattr(_cli.cli, "main", lambda **options: make_a_class(how()))
    assert _cli.run(["plan"]) == code
    assert ("bug" in capsys.readouterr().err) == (code == 3)


def test_a_signal_that_comes_while_a_module_is_loaded_is_no_fault_of_the_table():
    with pytest.raises(KeyboardInterrupt):
        guarded("The table is bad.", make_a_class, KeyboardInterrupt())
    with pytest.raises(pk.DataError):
        guarded("The table is bad.", make_a_class, ValueError())


def ring():
    first, second = ValueError(), ValueError()
    first.__cause__, second.__cause__ = second, first
    raise first


def test_other_errors_are_faults_of_the_table_also_after_an_interrupt():
    with pytest.raises(pk.DataError):
        guarded("The table is bad.", ring)
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        with pytest.raises(pk.DataError):
            guarded("The table is bad.", int, "x")


def test_a_pipe_gets_no_progress_bar(place):
    process = place.start("release", "people.csv", "--plan", "plan.json", "-o", "out")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert err == "note: every further release of the same people adds its epsilon; --ledger keeps count.\n"
    assert "Released 200 rows" in out


def test_a_reader_that_hangs_up_is_no_failure(place):
    process = place.start("plan", "people.toml", "--records", "200", "--k", "3")
    process.stdout.close()
    assert process.wait(timeout=60) == 0
    process.stderr.close()


def test_a_result_that_cannot_be_printed(place):
    with open("/dev/full", "w") as full:
        process = subprocess.run(
            [sys.executable, "-m", "pkanon", "release", "people.csv", "--plan", "plan.json", "-o", "out"],
            stdout=full, stderr=subprocess.PIPE, text=True, timeout=60,
        )  # fmt: skip
    assert process.returncode == 3
    assert "written files are complete" in process.stderr
    assert pk.open_release("out").rows == 200


def test_a_signal_that_somebody_else_handles_cannot_cut_the_table(large):
    """polars ends a query early on SIGINT, even where the process ignores it: never a release of some of the rows."""
    code = (
        "import os, signal, sys, threading\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "import pkanon as pk\n"
        "plan = pk.read_plan('plan.json')\n"
        "for i in range(10):\n"
        "    timer = threading.Timer(0.03 * i, lambda: os.kill(os.getpid(), signal.SIGINT))\n"
        "    timer.start()\n"
        "    try:\n"
        "        release = pk.release('people.csv', plan)\n"
        "        release.save(f'out{i}', format='both')\n"
        "        print(release.rows, pk.open_release(f'out{i}').rows)\n"
        "    except (pk.PkanonError, KeyboardInterrupt):\n"
        "        print('refused')\n"
        "    timer.join()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=large.folder)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.split("\n")[:-1]
    assert len(lines) == 10
    assert set(lines) <= {f"{LARGE} {LARGE}", "refused"}
