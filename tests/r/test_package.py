"""The package in r/ by itself: R finds nothing wrong with it, it opens what it can read and refuses the rest."""

import html
import itertools
import json
import re
import shutil

import numpy as np
import polars as pl
import pytest
import r_package
from r_releases import example, kinds_of_values, of_blocks

import pkanon as pk

EXAMPLE = r_package.PACKAGE / "inst" / "extdata" / "example"
HARMLESS = "Packages suggested but not available for checking"
"""What a check may note: that a reader of Parquet is not installed here."""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return r_package.install(tmp_path_factory.mktemp("r") / "library")


def printed(text, folder, library):
    code, output = r_package.script(text, folder, library)
    assert code == 0, output
    return output


def refusal(folder, library, call='read_release("out")'):
    """What is said instead of an answer."""
    line = f"cat(tryCatch({{ {call}; 'not refused' }}, error = conditionMessage))"
    return printed(line, folder, library)


@pytest.fixture
def saved(tmp_path):
    """The example of the package, which tests may change."""
    shutil.copytree(EXAMPLE, tmp_path / "out")
    return tmp_path


def test_r_finds_nothing_wrong(tmp_path, monkeypatch):
    """R CMD check as for a repository of packages, without a network: an empty one stands in its place."""
    empty = tmp_path / "repository"
    (empty / "src" / "contrib").mkdir(parents=True)
    (empty / "src" / "contrib" / "PACKAGES").touch()
    (empty / "web" / "packages").mkdir(parents=True)
    (empty / "Rprofile").write_text(f'options(repos = c(CRAN = "file://{empty}"))\n')
    columns = ", ".join(f"{name} = character()" for name in ("Package", "Version", "Maintainer"))
    code, output = r_package.run(
        [r_package.program("Rscript"), "-e", f'saveRDS(data.frame({columns}), "web/packages/packages.rds")'], empty
    )
    assert code == 0, output
    settings = {
        "R_PROFILE": str(empty / "Rprofile"),
        "R_CRAN_WEB": f"file://{empty}",
        "_R_CHECK_FORCE_SUGGESTS_": "false",
        "_R_CHECK_CRAN_INCOMING_": "false",
        "_R_CHECK_SYSTEM_CLOCK_": "false",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    shutil.copytree(r_package.PACKAGE, tmp_path / "pkanon")
    code, output = r_package.run([r_package.program("R"), "CMD", "build", "pkanon"], tmp_path)
    assert code == 0, output
    (archive,) = tmp_path.glob("*.tar.gz")
    code, output = r_package.run(
        [r_package.program("R"), "CMD", "check", "--no-manual", "--as-cran", archive.name], tmp_path
    )
    assert code == 0, output
    lines = output.splitlines()
    noted = [after for line, after in itertools.pairwise(lines) if re.match(r"\* .* (NOTE|WARNING|ERROR)$", line)]
    assert all(line.startswith(HARMLESS) for line in noted), output
    assert f"Status: {'1 NOTE' if noted else 'OK'}" in lines
    assert "Running ‘example.R’" in output
    assert re.search(r"checking examples \.\.\.( \[.*\])? OK", output)  # a slow machine has its times in between


def test_the_version_is_that_of_the_program():
    description = (r_package.PACKAGE / "DESCRIPTION").read_text(encoding="utf-8")
    assert f"Version: {pk.__version__}\n" in description


def test_the_example_is_the_release_that_we_make():
    opened = pk.open_release(EXAMPLE)
    made = example()
    assert opened.plan == made.plan
    assert opened.table.equals(made.table)


class TestRefused:
    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda plan: plan.update(format="pkanon-plan/2"), ["'pkanon-plan/2'", "'pkanon-plan/1' only"]),
            (lambda plan: plan.update(novelty=1), ["unknown key 'novelty'", "newer version"]),
            (lambda plan: plan["attributes"][0].update(novelty=1), ["attribute 'sex'", "unknown key 'novelty'"]),
            (lambda plan: plan["blocks"][0].update(kind="swap"), ["'swap'", "retention, agreement, matrix"]),
            (lambda plan: plan["blocks"][0].update(novelty=1), ["'agreement'", "unknown key 'novelty'"]),
            (lambda plan: plan["blocks"][0].update(width=8), ["unknown width"]),
            (lambda plan: plan["blocks"][0]["sets"].__setitem__(0, "1e9"), ["text of digits"]),
            (lambda plan: plan["blocks"][0]["sets"].__setitem__(0, "5"), ["do not sum"]),
            (lambda plan: plan["blocks"][0]["sets"].pop(), ["lacks numbers"]),
            (lambda plan: plan["units"][1].update(size=16), ["another number of values"]),
            (lambda plan: plan["units"].pop(), ["a unit that is not there"]),
        ],
    )  # fmt: skip
    def test_a_plan_that_it_does_not_understand(self, saved, library, change, words):
        file = saved / "out" / "plan.json"
        plan = json.loads(file.read_text(encoding="utf-8"))
        change(plan)
        file.write_text(json.dumps(plan), encoding="utf-8")
        said = refusal(saved, library)
        assert said.startswith("plan.json cannot be used: ")
        assert all(word in said for word in words), said

    def test_files_that_are_no_release(self, saved, library):
        calls = ['read_release("nowhere")', 'read_release(".")', 'read_release("out", data = data.frame(sex = "F"))']
        said = refusal(saved, library, calls[0])
        assert "There is no folder 'nowhere'" in said
        assert "not a finished release" in refusal(saved, library, calls[1])
        assert "no column 'age'. Available: sex." in refusal(saved, library, calls[2])
        (saved / "out" / "plan.json").write_text("{", encoding="utf-8")
        assert "damaged" in refusal(saved, library)

    def test_a_certificate_of_another_version(self, saved, library):
        file = saved / "out" / "certificate.json"
        file.write_text(file.read_text(encoding="utf-8").replace("pkanon-certificate/2", "pkanon-certificate/3"))
        assert "'pkanon-certificate/3'" in refusal(saved, library)
        file.unlink()
        assert "certificate.json is absent" in refusal(saved, library)

    def test_rows_that_are_not_those_of_the_release(self, saved, library):
        file = saved / "out" / "data.csv"
        text = file.read_text(encoding="utf-8")
        file.write_text(text.rsplit("\n", 2)[0] + "\n", encoding="utf-8")
        assert "999 rows, but certificate.json is for 1000" in refusal(saved, library)
        file.write_text(text.replace("60+", "61+", 1), encoding="utf-8")
        said = refusal(saved, library)
        assert "The column 'age' holds values that plan.json does not declare" in said
        assert "61+" not in said  # a value of a person is never quoted
        file.unlink()
        assert "neither data.csv nor data.parquet" in refusal(saved, library)

    def test_a_changed_file_where_hashes_can_be_computed(self, saved, library):
        sha256 = 'function(file) sub(" .*", "", system2("sha256sum", file, stdout = TRUE))'
        call = f'pkanon:::check_hashes("out", sha256 = {sha256})'
        assert refusal(saved, library, call) == "not refused"
        with (saved / "out" / "README.txt").open("a", encoding="utf-8") as file:
            file.write("more\n")
        assert "README.txt is not the file that was released" in refusal(saved, library, call)

    def test_a_table_that_the_plan_destroyed(self, tmp_path, library, seed):
        gone = pk.Retention(pk.Unit(("a",), (2,)), 2**31)
        kept = pk.Retention(pk.Unit(("b",), (2,)), 2**20)
        of_blocks(gone, kept, rows=50, seed=seed).save(tmp_path / "out", format="csv")
        said = refusal(tmp_path, library, 'crosstab(read_release("out"), "b", "a")')
        assert said.startswith("The table of b, a cannot be reconstructed: the plan leaves nothing of a")
        assert refusal(tmp_path, library, 'crosstab(read_release("out"), "b")') == "not refused"

    def test_parquet_without_a_reader(self, tmp_path, library):
        example().save(tmp_path / "out")
        line = 'for (name in c("arrow", "nanoparquet")) stopifnot(!requireNamespace(name, quietly = TRUE))'
        code, _ = r_package.script(line, tmp_path, library)
        if code == 0:
            said = refusal(tmp_path, library)
            assert "needs a reader" in said
            assert "nanoparquet" in said
            assert "--format csv" in said
        else:  # somebody has one: then it must work
            assert "1,000" in printed('read_release("out")', tmp_path, library)

    @pytest.mark.parametrize(
        ("call", "words"),
        [
            ('crosstab(release)', ["needs the names", "Available: sex, age, education, rooms."]),
            ('crosstab(release, "sex", "sex")', ["names each attribute once"]),
            ('crosstab(release, "sex", about = "world")', ["'table' or the 'population'"]),
            ('crosstab("out", "sex")', ["read_release()"]),
            ('count(tab, "F")', ["list(sex ="]),
            ('count(tab, list(age = "60+"))', ["no attribute 'age'. Available: sex, education."]),
            ('merge_values(tab, education = list(x = "none", y = "none"))', ["'none'", "two groups"]),
            ('merge_values(tab, education = list(c("none", "school")))', ["name of its own"]),
            ('merge_values(tab, education = list(degree = c("none", "school")))', ["'degree' is also a value"]),
            ('merge_values(tab, list("F"))', ["Say which attribute"]),
            ('mean(tab, "education", values = c(none = 1))', ["'school' has none"]),
            ('mean(tab, "education", values = c(primary = 1))', ["'primary'", "Available: none"]),
            ('as.data.frame(tab, given = "age")', ["no attribute 'age'"]),
            ('test(crosstab(release, "sex"))', ["between two attributes"]),
            ('test(ratio(tab, list(sex = "F"), list(sex = "M")), null = 0)', ["no difference is a ratio of 1"]),
            ('count(tab)^2', ["'^' is not defined"]),
            ('count(tab) + c(1, 2)', ["single number"]),
        ],
    )  # fmt: skip
    def test_questions_without_an_answer(self, saved, library, call, words):
        said = refusal(
            saved, library, f'release <- read_release("out"); tab <- crosstab(release, "sex", "education"); {call}'
        )
        assert all(word in said for word in words), said


class TestRows:
    def test_columns_of_every_class(self, tmp_path, library, seed):
        """As readers of Parquet and databases give them: numbers, factors, dates, logical values."""
        from mixed import make_release, make_table, noisy

        release = make_release(make_table(500), noisy, seed=seed)
        release.save(tmp_path / "out", format="csv")
        printed(
            "\n".join(
                [
                    'plain <- read_release("out")',
                    'rows <- read.csv("out/data.csv", na.strings = "", stringsAsFactors = TRUE)',
                    "rows$married <- rows$married == 'true'",
                    "rows$wave <- as.Date(rows$wave)",
                    "rows$rooms <- as.numeric(rows$rooms)",
                    'typed <- read_release("out", data = rows)',
                    "stopifnot(is.logical(rows$married), is.integer(rows$children), is.factor(rows$Region))",
                    "stopifnot(identical(plain$codes, typed$codes))",
                    'tab <- crosstab(typed, "married", "wave", "rooms")',
                    'one <- count(tab, list(married = TRUE, wave = as.Date("2020-01-01"), rooms = c(1, 6)))',
                    'two <- count(tab, list(married = "true", wave = "2020-01-01", rooms = c("1", "6")))',
                    "stopifnot(identical(as.data.frame(one), as.data.frame(two)))",
                ]
            ),
            tmp_path,
            library,
        )

    def test_whole_numbers_beyond_doubles_need_the_text(self, tmp_path, library, seed):
        release = kinds_of_values(300, seed)
        release.save(tmp_path / "out", format="csv")
        output = printed(
            "\n".join(
                [
                    'release <- read_release("out")',
                    'cat(dimnames(crosstab(release, "code"))$code, "\\n")',
                    'cat(dimnames(crosstab(release, "number"))$number, "\\n")',
                    'cat(dimnames(crosstab(release, "text"))$text, sep = "|")',
                    'rows <- read.csv("out/data.csv", na.strings = "", check.names = FALSE)',
                    'cat("\\n", tryCatch(read_release("out", data = rows), error = conditionMessage), sep = "")',
                ]
            ),
            tmp_path,
            library,
        ).splitlines()
        assert output[0].split() == [str(value) for value in (2**53, 2**53 + 1, -(2**62))]
        assert output[1].split() == [str(2**60 + i) for i in range(3)]
        assert output[2] == 'NA| x|(missing)|q"t, u|(missing)_'  # none is lost, and none is two
        assert "integers beyond 2^53 need the CSV file" in output[3]

    def test_one_column_with_missing_values(self, tmp_path, library):
        """Its file has empty lines."""
        schema = pk.Schema([pk.Attribute("sex", ["F", "M"], missing="value")])
        people = pl.DataFrame({"sex": ["F", None, "M", None] * 25})
        release = pk.release(people, pk.plan(schema, records=100, k=5), randomness=pk.Seeded(3))
        release.save(tmp_path / "out", format="csv")
        output = printed('cat(as.data.frame(crosstab(read_release("out"), "sex"))$released)', tmp_path, library)
        assert [float(x) for x in output.split()] == release.crosstab("sex").released.tolist()

    def test_a_hidden_count_is_said(self, tmp_path, library):
        schema = pk.Schema([pk.Attribute("sex", ["F", "M"])])
        plan = pk.plan(schema, records=100, k=5, hide_count="9/10")
        pk.release(pl.DataFrame({"sex": ["F", "M"] * 60}), plan, randomness=pk.Seeded(3)).save(
            tmp_path / "out", format="csv"
        )
        output = printed('crosstab(read_release("out"), "sex")', tmp_path, library)
        assert "The record count is hidden" in output


def test_what_a_release_says_about_r_runs(tmp_path, library):
    """The line in README.txt, and the recipe in the report."""
    release = example()
    release.save(tmp_path / "out", format="csv")
    report = pk.report(tmp_path / "out").html
    recipe = html.unescape(re.search(r'<pre class="code r package"[^>]*><code>(.*?)</code>', report, re.S)[1])
    told = (tmp_path / "out" / "README.txt").read_text(encoding="utf-8")
    line = re.search(r"library\(pkanon\);.*\)", told)[0]
    for text, folder in ((recipe, tmp_path), (line, tmp_path / "out")):
        output = printed(text, folder, library).splitlines()
        assert output[0].split()[:3] == ["sex", "age", "estimate"]
        assert int(output[1].split()[2]) == round(release.crosstab("sex", "age").counts[0, 0])


def test_a_large_table_needs_no_square_of_its_cells(tmp_path, library, seed):
    """80,000 cells: a matrix of them all would take 50 GB."""
    draw = np.random.default_rng(seed)
    sizes = {"a": 400, "b": 20, "c": 10}
    schema = pk.Schema([pk.Attribute.ranged(name, 1, size) for name, size in sizes.items()])
    people = pl.DataFrame({name: draw.integers(1, size + 1, 2_000) for name, size in sizes.items()})
    units = schema.units
    blocks = (pk.Retention(units[0], 2**21), pk.Agreement(units[1:], (2**60, 2**60, 2**60, 2**64 - 3 * 2**60)))
    release = pk.release(people, pk.Plan(schema, blocks, records=2_000), randomness=pk.Seeded(seed))
    release.save(tmp_path / "out", format="csv")
    output = printed(
        'data <- as.data.frame(crosstab(read_release("out"), "c", "a", "b"), given = "a")\n'
        "cat(sprintf('%.17g', colSums(data[c('estimate', 'std_error', 'low_95', 'high_95', 'proportion_high_95')])))",
        tmp_path,
        library,
    )
    frame = release.crosstab("c", "a", "b").to_polars(given=["a"])
    expected = [frame[name].sum() for name in ("estimate", "std_error", "low_95", "high_95", "proportion_high_95")]
    assert np.allclose([float(x) for x in output.split()], expected, rtol=1e-9)
