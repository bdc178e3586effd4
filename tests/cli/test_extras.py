"""Installed without extras: a sentence that names the one to install, before any work is done."""

import subprocess
import sys

import pytest

WITHOUT = """
import sys

MISSING = ("altair", "vl_convert", "sqlglot", "xarray", "pyreadstat", "fastexcel", "xlsxwriter", "duckdb", "psycopg")

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in MISSING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
from pkanon._cli import run
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (["crosstab", "out", "sex", "--chart", "c.png"], "charts"),
        (["correlations", "out", "--chart", "c.svg"], "charts"),
        (["plan", "people.toml", "--records", "200", "--k", "3", "--chart", "c.html"], "charts"),
        (["compare", "--quick"], "charts"),
        (["reproduce", "--quick"], "charts"),
        (["query", "out", "SELECT COUNT(*) FROM release"], "sql"),
        (["schema", "people.sav"], "statistics"),
        (["export", "out", "rows.sav"], "statistics"),
        (["export", "out", "rows.xlsx"], "excel"),
        (["anonymity", "people.ods", "sex"], "excel"),
        (["schema", "postgresql://?service=people"], "databases"),
        (["crosstab", "out", "sex", "-o", "table.xlsx"], "excel"),
        (["crosstab", "out", "sex"], None),
    ],
)
def test_what_to_install_is_said(place, arguments, extra):
    assert place.release()[0] == 0
    for name in ("people.sav", "people.ods"):  # what is missing is said before a file is looked at
        place.write(name, "")
    before = place.names()
    done = subprocess.run([sys.executable, "-c", WITHOUT, *arguments], capture_output=True, text=True, timeout=60)
    if extra is None:
        assert done.returncode == 0
        assert all(line.startswith("note: ") for line in done.stderr.splitlines())
    else:
        assert (done.returncode, done.stdout) == (3, "")
        assert f'install the extra "{extra}", in a clone with pip install ".[{extra}]".' in done.stderr
        assert done.stderr.count("\n") == 1
    assert place.names() == before
