"""The lines of R in a report run as they stand, and give pkanon's numbers."""

import html
import re
import shutil
import subprocess

import numpy as np
import polars as pl
import pytest

import pkanon as pk

SCHEMAS = {
    "alike": pk.Schema([pk.Attribute("sex of the person", ["F", 'say "M"'], missing="value")]),
    "bundle": pk.Schema(
        [pk.Attribute("age", ["young", "old"]), pk.Attribute("school", ["none", "degree"])],
        [pk.Bundle(["age", "school"], forbid=[{"age": ["young"], "school": ["degree"]}])],
    ),
}
PEOPLE = {
    "alike": pl.DataFrame({"sex of the person": ["F", 'say "M"', None] * 200}),
    "bundle": pl.DataFrame({"age": ["old", "young", "old"] * 200, "school": ["none", "none", "degree"] * 200}),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_script_gives_the_estimate(tmp_path, name):
    plan = pk.plan(SCHEMAS[name], records=600, k=10, design="equal-rho")
    release = pk.release(PEOPLE[name], plan, randomness=pk.Seeded(5))
    release.save(tmp_path / "out", format="csv")
    text = pk.report(tmp_path / "out").html
    script = html.unescape(re.search(r'<pre class="code r"[^>]*><code>(.*?)</code>', text, re.S)[1])
    script += '\nwrite.csv(data.frame(estimate, error = sqrt(variance)), "numbers.csv", row.names = FALSE)\n'
    (tmp_path / "out" / "script.R").write_text(script, encoding="utf-8")
    program = shutil.which("Rscript")
    assert program, "Rscript is not installed; 'make test' installs it where apt-get exists (CONTRIBUTING.md)"
    subprocess.run(
        [program, "--vanilla", "script.R"], cwd=tmp_path / "out", check=True, capture_output=True, timeout=60
    )
    numbers = pl.read_csv(tmp_path / "out" / "numbers.csv")
    estimate = release.crosstab(plan.schema.names[0])
    assert np.allclose(numbers["estimate"], estimate.counts, atol=1e-6)
    assert np.allclose(numbers["error"], estimate.standard_errors, rtol=1e-6)
