"""Does what a user installs work? Run by `make wheel-test` in an environment with the wheel, its dependencies and no extras.

The tests themselves run the source tree with everything installed. They cannot see a file that is missing in the wheel, a
dependency that pyproject.toml does not name, or an extra that is imported where it is not needed.
"""

import ast
import csv
import importlib
import importlib.metadata
import importlib.util
import os
import pkgutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pkanon as pk

ROOT = Path(__file__).parents[2]
ABSENT = (
    "altair",
    "vl_convert",
    "sqlglot",
    "xarray",
    "pandas",
    "pyarrow",
    "duckdb",
    "pytest",
    "starlette",
    "uvicorn",
    "psycopg",
    "pyreadstat",
    "fastexcel",
    "xlsxwriter",
    "pyspark",
)
SCHEMA = """\
[attributes.sex]
values = ["F", "M"]
[attributes.age]
type = "integer"
range = [0, 9]
"""
CHARTS, SQL, ARRAYS, STATISTICS, SPARK = (
    f'install the extra "{extra}"' for extra in ("charts", "sql", "arrays", "statistics", "spark")
)


EXTRAS = {"sql": ("sqlglot",), "_collect": ("starlette", "uvicorn")}
"""What modules of these folders may miss."""


def pkanon(*arguments: str, code: int = 0) -> str:
    """What the installed program prints; it must end with this exit code, and print to one place only, but for notes."""
    program = Path(sys.executable).parent / "pkanon"
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == code, f"pkanon {' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}"
    printed, silent = (done.stderr, done.stdout) if code else (done.stdout, done.stderr)
    silent = "\n".join(line for line in silent.splitlines() if not line.startswith("note: "))
    assert silent == "", f"pkanon {' '.join(arguments)}: also printed\n{silent}"
    return printed


def refusal(action: Callable[[], object]) -> str:
    """The sentence with which something is refused."""
    try:
        action()
    except pk.EnvironmentFailure as error:
        return str(error)
    raise AssertionError("nothing was refused")


def check_the_environment() -> None:
    installed = Path(pk.__file__).parent
    assert Path(sys.prefix) in installed.parents, f"pkanon comes from {installed}, not from the wheel"
    present = [name for name in ABSENT if importlib.util.find_spec(name)]
    assert not present, f"this environment is not without extras: {present}"
    assert importlib.metadata.version("pkanon") == pk.__version__
    offered = set(importlib.metadata.metadata("pkanon").get_all("Provides-Extra", []))
    assert offered >= {"charts", "sql", "arrays", "statistics", "excel", "databases", "spark"}, (
        "messages name an extra that is not offered"
    )


def check_the_files() -> None:
    """Everything under src is in the wheel, and nothing else."""
    source, installed = ROOT / "src" / "pkanon", Path(pk.__file__).parent

    def files(folder: Path) -> set[Path]:
        return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"}

    assert files(source) == files(installed), files(source) ^ files(installed)


def check_the_modules() -> None:
    """Every module loads, but for charts, the readers of SQL that need the parser, the service of surveys, and Spark."""
    folder, failed = Path(pk.__file__).parent, []
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        name = ".".join(parts).removesuffix(".__init__")
        if parts[-1] == "__main__" or "charts" in parts:
            continue
        if "spark" in parts:
            assert SPARK in refusal(partial(importlib.import_module, name)), name
            continue
        try:
            importlib.import_module(name)
        except ImportError as error:
            if error.name not in EXTRAS.get(parts[-2], ()):
                failed.append(f"{name}: {error}")
    assert not failed, failed
    assert len({module.name for module in pkgutil.iter_modules(pk.__path__)}) > 10


def check_the_dependencies() -> None:
    """What is imported anywhere, in a function too, is there or comes with an extra."""
    imported = set()
    for path in Path(pk.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported.add(str(node.module).partition(".")[0])
    assert "numpy" in imported
    missing = [name for name in imported - set(ABSENT) if importlib.util.find_spec(name) is None]
    assert not missing, f"imported, and no dependency in pyproject.toml: {missing}"


def check_the_public_names() -> None:
    refused = {}
    for name in pk.__all__:
        try:
            getattr(pk, name)
        except pk.EnvironmentFailure as error:
            refused[name] = str(error)
    assert SPARK in refused.pop("spark", SPARK), refused
    assert all(CHARTS in sentence for sentence in refused.values()), refused
    assert set(refused) <= {"readability_chart", "save_chart"}, refused


def check_the_program() -> None:
    """A tiny table to a release and back to a table; what needs an extra names it."""
    assert pkanon("--version") == f"pkanon {pk.__version__}\n"
    Path("people.toml").write_text(SCHEMA, encoding="utf-8")
    with open("people.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("sex", "age"), *(("FM"[i % 2], i % 7) for i in range(300))])
    pkanon("release", "people.csv", "--schema", "people.toml", "--k", "3", "-o", "out")
    assert {path.name for path in Path("out").iterdir()} >= {"data.parquet", "plan.json", "certificate.json"}
    assert "nothing is broken" in pkanon("verify", "out")
    pkanon("report", "out")
    assert "Decided by" in Path("out", "report.html").read_text(encoding="utf-8")
    table = pkanon("crosstab", "out", "sex")
    assert "estimate" in table
    assert "95% interval" in table
    assert CHARTS in pkanon("crosstab", "out", "sex", "--chart", "sex.svg", code=3)
    assert SQL in pkanon("query", "out", "SELECT COUNT(*) FROM release", code=3)
    assert not Path("sex.svg").exists()
    pkanon("export", "out", "rows.feather")
    assert "k = " in pkanon("anonymity", "rows.feather", "sex")
    assert STATISTICS in pkanon("export", "out", "rows.sav", code=3)
    assert not Path("rows.sav").exists()


def check_the_library() -> None:
    """The release that the program made, and the table that comes with the package."""
    assert pk.demo_table().height > 1_000
    assert all(pk.code_list(name).rows for name in pk.code_lists())
    estimate = pk.open_release("out").crosstab("sex")
    assert estimate.to_polars().height == 2
    assert abs(float(estimate.counts.sum()) - 300) < 1e-6
    assert CHARTS in refusal(estimate.chart)
    assert ARRAYS in refusal(estimate.to_xarray)
    assert "pandas is not installed" in refusal(estimate.to_pandas)


def main() -> None:
    checks = [value for name, value in globals().items() if name.startswith("check_")]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for check in checks:
            check()
        os.chdir(ROOT)
    print(f"The wheel of pkanon {pk.__version__}, installed without extras: {len(checks)} checks passed.")


if __name__ == "__main__":
    main()
