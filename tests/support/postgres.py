"""A PostgreSQL server of its own for a test: in a folder, on a Unix socket, as a user without rights.

PostgreSQL refuses to run as root; then it is run as the user ``postgres`` or ``nobody``. A server that is missing is a
failure, not a reason to skip.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MISSING = (
    "Tests need a PostgreSQL server: its program initdb was not found. Run make services, or install it (Debian, Ubuntu: apt-get "
    "install postgresql)."
)
PLACES = ("/usr/lib/postgresql", "/usr/pgsql", "/opt/homebrew/opt", "/usr/local/opt")


def programs() -> Path:
    """The folder of initdb and pg_ctl."""
    found = [path for place in PLACES for path in sorted(Path(place).glob("*/bin/initdb"), reverse=True)]
    on_path = shutil.which("initdb")
    if on_path is not None:
        found.insert(0, Path(on_path).resolve())
    if not found:
        raise RuntimeError(MISSING)
    return found[0].parent


def _user() -> pwd.struct_passwd | None:
    """The user to run as; None for the one who runs the tests."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise RuntimeError("PostgreSQL refuses to run as root, and there is neither a user 'postgres' nor 'nobody'.")


class Cluster:
    """A server in a folder; ``options`` are settings of it, such as ``log_statement = all``."""

    def __init__(self, folder: Path, **options: str) -> None:
        self.folder, self._bin, self._user = folder, programs(), _user()
        self.data = folder / "data"
        if self._user is not None:
            os.chown(folder, self._user.pw_uid, self._user.pw_gid)
        self._run(
            "initdb", "-D", str(self.data), "-U", "survey", "-A", "trust", "-E", "UTF8", "--no-sync", "--no-locale"
        )
        settings = {
            "listen_addresses": "''",
            "unix_socket_directories": f"'{folder}'",
            "shared_buffers": "'16MB'",
            "max_connections": "20",
            "log_destination": "'stderr'",
        }
        settings |= {name: f"'{value}'" for name, value in options.items()}
        with open(self.data / "postgresql.conf", "a", encoding="utf-8") as file:
            file.writelines(f"{name} = {value}\n" for name, value in settings.items())
        self.url = f"postgresql://survey@/postgres?host={folder}"

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    def start(self) -> None:
        self._run("pg_ctl", "-D", str(self.data), "-l", str(self.log), "-w", "-s", "start")

    def stop(self, how: str = "fast") -> None:
        """``immediate`` is a crash."""
        self._run("pg_ctl", "-D", str(self.data), "-m", how, "-w", "-s", "stop")

    def _run(self, program: str, *arguments: str) -> None:
        user = self._user
        as_user = {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        done = subprocess.run(
            [str(self._bin / program), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.folder,
            env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"},
            check=False,
            **as_user,  # type: ignore[call-overload]
        )
        if done.returncode:
            raise RuntimeError(f"{program} failed: {done.stdout}")


@contextmanager
def cluster(**options: str) -> Iterator[Cluster]:
    """A running server, gone afterwards. Its folder has a short name: the path of a socket has 107 characters at most."""
    with tempfile.TemporaryDirectory(prefix="pkanon-pg-") as folder:
        server = Cluster(Path(folder), **options)
        server.start()
        try:
            yield server
        finally:
            server.stop("immediate")
