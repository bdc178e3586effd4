"""`make test` needs R, PostgreSQL, Chromium and Java, no Python packages: what it installs for the whole system, it names first."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = "r-base-core r-cran-jsonlite"
SERVICES = "postgresql chromium"
COMMANDS = f"apt-get update; {{}}apt-get install --no-install-recommends {PACKAGES}"


def make_r(folder, *, user=0, programs=(), installs=False):
    """(exit code, lines printed and programs run, in order), where only these programs exist and R does not."""
    scripts = {
        "id": f"echo {user}",
        "apt-get": f"echo RAN apt-get $* >&2{f'; touch {folder}/installed' * installs}",
        "sudo": 'echo RAN sudo >&2; exec "$@"',
        "Rscript": f"[ -e {folder}/installed ]",
    }
    places = {name: shutil.which(name) for name in ("make", "sh", "env")}
    for name in ("id", "Rscript", *programs):
        (folder / name).write_text(f"#!{places['sh']}\n{scripts[name]}\n")
        (folder / name).chmod(0o755)
    for name in ("sh", "env", "touch"):
        (folder / name).symlink_to(places.get(name) or shutil.which(name))
    environment = {"PATH": str(folder), "HOME": os.environ.get("HOME", "")}
    done = subprocess.run(
        [places["make"], "--no-print-directory", "-C", ROOT, "r"],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout.splitlines()


@pytest.mark.parametrize(("user", "programs"), [(0, ("apt-get",)), (1000, ("apt-get", "sudo"))])
def test_what_is_installed_is_said_before(tmp_path, user, programs):
    code, lines = make_r(tmp_path, user=user, programs=programs, installs=True)
    assert code == 0
    assert "Installing them for the whole system" in lines[0]
    sudo = f"{tmp_path}/sudo " if user else ""
    assert lines[1].strip() == f"{sudo}{COMMANDS.format(sudo)}"
    ran = [line for line in lines[2:] if line != "RAN sudo"]
    assert ran == ["RAN apt-get -qq update", f"RAN apt-get -qq install -y --no-install-recommends {PACKAGES}"]
    assert ("RAN sudo" in lines) == bool(user)


@pytest.mark.parametrize(
    ("user", "programs"), [(0, ()), (1000, ("apt-get",)), (1000, ("sudo",)), (0, ("apt-get",))],
    ids=["no apt-get", "neither root nor sudo", "sudo, no apt-get", "apt-get fails"],
)  # fmt: skip
def test_where_it_cannot_be_installed_the_way_is_told(tmp_path, user, programs):
    code, lines = make_r(tmp_path, user=user, programs=programs)
    assert code != 0
    told = "\n".join(lines)
    assert "Tests need R and its package jsonlite" in told
    assert f"apt-get install {PACKAGES}" in told
    assert 'install.packages("jsonlite")' in told
    assert any(line.startswith("RAN") for line in lines) == (user == 0 and programs == ("apt-get",))


def make_services(folder, *, user=0, programs=(), installs=False):
    """The same for PostgreSQL and Chromium, where neither exists."""
    makes = f"; for name in initdb chromium; do echo '#!/bin/sh' > {folder}/$name; chmod 755 {folder}/$name; done"
    scripts = {
        "id": f"echo {user}",
        "apt-get": f"echo RAN apt-get $* >&2{makes * installs}",
        "sudo": 'echo RAN sudo >&2; exec "$@"',
    }
    places = {name: shutil.which(name) for name in ("make", "sh", "env", "chmod")}
    for name in ("id", *programs):
        (folder / name).write_text(f"#!{places['sh']}\n{scripts[name]}\n")
        (folder / name).chmod(0o755)
    for name in ("sh", "env", "chmod"):
        (folder / name).symlink_to(places[name])
    done = subprocess.run(
        [places["make"], "--no-print-directory", "-C", ROOT, "services", "POSTGRES_PROGRAMS=/nowhere"],
        env={"PATH": str(folder), "HOME": os.environ.get("HOME", "")},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout.splitlines()


@pytest.mark.parametrize(("user", "programs"), [(0, ("apt-get",)), (1000, ("apt-get", "sudo"))])
def test_the_services_that_are_installed_are_named_before(tmp_path, user, programs):
    code, lines = make_services(tmp_path, user=user, programs=programs, installs=True)
    assert code == 0
    assert "Installing them for the whole system" in lines[0]
    assert lines[1].endswith(f"apt-get install --no-install-recommends {SERVICES}")
    ran = [line for line in lines[2:] if line != "RAN sudo"]
    assert ran == ["RAN apt-get -qq update", f"RAN apt-get -qq install -y --no-install-recommends {SERVICES}"]
    assert ("RAN sudo" in lines) == bool(user)


@pytest.mark.parametrize(("user", "programs"), [(0, ()), (1000, ("apt-get",)), (0, ("apt-get",))])
def test_where_services_cannot_be_installed_the_way_is_told(tmp_path, user, programs):
    code, lines = make_services(tmp_path, user=user, programs=programs)
    assert code != 0
    assert f"apt-get install {SERVICES}" in "\n".join(lines)
    assert any(line.startswith("RAN") for line in lines) == (user == 0 and programs == ("apt-get",))


@pytest.mark.parametrize("present", [(), ("initdb",), ("chromium",), ("initdb", "chromium")])
def test_nothing_is_said_where_both_services_are(tmp_path, present):
    for name in present:
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    code, lines = make_services(tmp_path)
    assert (code == 0) == (len(present) == 2)
    assert (lines == []) == (len(present) == 2)


def test_nothing_is_said_where_r_is(tmp_path):
    (tmp_path / "installed").touch()
    assert make_r(tmp_path) == (0, [])


def make_java(folder, *, version=None, programs=(), installs=None):
    """The same for Java, of which this version is there, or none."""
    java = "#!/bin/sh\necho 'openjdk version \"{}.0.1\" 2025-01-01' >&2\n"
    (folder / "new").write_text(java.format(installs))
    (folder / "new").chmod(0o755)
    scripts = {
        "id": "echo 0",
        "apt-get": f"echo RAN apt-get $* >&2{f'; ln -s new {folder}/java' * (installs is not None)}",
    }
    for name in ("id", *programs):
        (folder / name).write_text(f"#!/bin/sh\n{scripts[name]}\n")
        (folder / name).chmod(0o755)
    for name in ("sh", "env", "grep", "ln"):
        (folder / name).symlink_to(shutil.which(name))
    if version is not None:
        (folder / "java").write_text(java.format(version))
        (folder / "java").chmod(0o755)
    done = subprocess.run(
        [shutil.which("make"), "--no-print-directory", "-C", ROOT, "java"], env={"PATH": str(folder)},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout.splitlines()


@pytest.mark.parametrize("version", [17, 21, 100])
def test_nothing_is_said_where_java_is(tmp_path, version):
    assert make_java(tmp_path, version=version) == (0, [])


@pytest.mark.parametrize("version", [None, 11, 8])
def test_java_that_is_missing_or_old_is_installed_or_asked_for(tmp_path, version):
    code, lines = make_java(tmp_path, version=version)
    assert code != 0
    assert "Tests need Java 17 or newer" in lines[0]
    if version is None:
        (tmp_path / "again").mkdir()
        code, lines = make_java(tmp_path / "again", programs=("apt-get",), installs=17)
        assert code == 0
        assert "Installing it for the whole system" in lines[0]
        assert "RAN apt-get -qq install -y --no-install-recommends openjdk-17-jre-headless" in lines
