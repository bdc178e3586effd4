"""What a certificate claims, and that the file of every kind of release has the form that is published."""

import json
from fractions import Fraction
from importlib.resources import files

import jsonschema
import polars as pl
import pytest

import pkanon as pk
from pkanon import _plan
from pkanon._release.certificate import Certificate, central_of

SEX, EDU = pk.Attribute("sex", ["F", "M"]), pk.Attribute("edu", ["none", "school", "degree"])
SCHEMA = pk.Schema(
    [SEX, EDU], confirmed_by="A. Example, statistics office", confirmed_on="2026-05-02", rows_are="persons"
)
FRAME = pl.DataFrame({"sex": ["F", "M"] * 300, "edu": ["none", "school", "degree"] * 200})
FORM = json.loads(files("pkanon").joinpath("_release/certificate.schema.json").read_text(encoding="utf-8"))


def released(**options):
    return pk.release(FRAME, pk.plan(SCHEMA, records=600, **({"k": 5} | options)))


KINDS = {
    "plain": released,
    "central": lambda: released(k=None, central_epsilon=0.9, delta=1e-5),
    "hidden": lambda: released(k=None, epsilon=3, hide_count="9/10"),
    "seeded": lambda: pk.release(FRAME, pk.plan(SCHEMA, records=600, k=5), randomness=pk.Seeded(1)),
    "fewer": lambda: pk.release(FRAME, pk.plan(SCHEMA, records=700, k=5), allow_fewer=True),
    "many units": lambda: pk.release(
        pl.DataFrame({f"q{i}": ["y", "n"] * 50 for i in range(13)}),
        pk.plan(
            pk.Schema([pk.Attribute(f"q{i}", ["y", "n"]) for i in range(13)]), records=100, k=2, design="equal-rho"
        ),
    ),
    "passed": lambda: pk.release(
        FRAME.with_columns(w=1.5),
        pk.plan(pk.Schema([SEX, EDU, pk.Attribute("w", role="pass")]), records=600, k=5),
        allow_pass=True,
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_file_has_the_published_form(kind):
    release = KINDS[kind]()
    data = json.loads(json.dumps(release.certificate.to_json()))
    jsonschema.Draft202012Validator.check_schema(FORM)
    jsonschema.validate(data, FORM, jsonschema.Draft202012Validator)
    assert pk.Certificate.from_json(data, release.plan) == release.certificate


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 7}, {"claims": {}}, {"void": ["x"]}, {"statement": []}, {"format": "pkanon-certificate/3"},
        {"date": "yesterday"}, {"digests": {}}, {"rows": 600}, {"asked": {"k": 5}}, {"without_passed": {"k": "5"}},
    ],
)  # fmt: skip
def test_the_published_form_refuses_others(change):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(KINDS["plain"]().certificate.to_json() | change, FORM)


def test_central_epsilon_is_stated_for_the_rows_released():
    plan = pk.plan(SCHEMA, records=600, k=5)
    frames = {rows: pl.concat([FRAME] * 4)[:rows] for rows in (500, 600, 2000)}
    claims = {rows: pk.release(frame, plan, allow_fewer=True).certificate.central for rows, frame in frames.items()}
    assert claims[600].epsilon == pytest.approx(plan.central().epsilon, abs=1e-5)
    assert claims[500].epsilon > claims[600].epsilon > claims[2000].epsilon
    assert [claim.delta for claim in claims.values()] == [1 / (10 * rows) for rows in claims]
    by_hand = pk.Plan(plan.schema, plan.blocks, records=500).central()
    assert claims[500].epsilon >= by_hand.epsilon
    assert claims[500].epsilon == pytest.approx(by_hand.epsilon, abs=1e-5)
    sentence = " ".join(pk.release(FRAME, plan).certificate.statement)
    assert "central epsilon" in sentence


@pytest.mark.parametrize("rows", [400, 597])
def test_a_central_target_is_not_missed_silently_with_fewer_rows(rows):
    plan = pk.plan(SCHEMA, records=600, central_epsilon=0.5, delta=1e-5)
    assert pk.release(FRAME, plan).certificate.central.epsilon <= 0.5
    with pytest.raises(pk.RefusedError, match="allow_fewer"):
        pk.check(FRAME[:rows], plan)
    certificate = pk.release(FRAME[:rows], plan, allow_fewer=True).certificate
    assert certificate.central.epsilon > 0.5
    assert any("not reached" in sentence for sentence in certificate.statement)


def test_a_central_target_that_is_proved_is_stated_where_the_search_for_the_smallest_ends_above_it(monkeypatch):
    plan = pk.plan(SCHEMA, records=600, central_epsilon=0.5, delta=1e-5)
    search, proof, proofs = _plan.central_epsilon, _plan.central_delta, []
    monkeypatch.setattr(_plan, "central_epsilon", lambda *given: max(search(*given), 0.5) * 1.001)
    monkeypatch.setattr(
        _plan, "central_delta", lambda *given, **how: proofs.append((given[2], how)) or proof(*given, **how)
    )
    computed = central_of.__wrapped__  # it is kept for a plan
    assert computed(plan, 600).epsilon == 0.5
    assert computed(plan, 500).epsilon > 0.5  # not proved for fewer rows
    assert len(proofs) == 2
    assert all(epsilon < 0.5 and not how for epsilon, how in proofs)  # close bounds, at no more than what is stated
    stated = Certificate.of(plan, 600, "0" * 64, computed(plan, 600), private=True)
    again = Certificate.from_json(stated.to_json(), plan)
    assert again.central.epsilon == 0.5
    assert again.statement == stated.statement


def test_a_central_target_is_not_missed_silently_with_more_rows():
    """delta = 1/650 means something for 600 rows and nothing for 900, which need a smaller one."""
    plan = pk.plan(SCHEMA, records=600, central_epsilon=0.5, delta=1 / 650)
    more = pl.concat([FRAME, FRAME])
    with pytest.raises(pk.RefusedError, match="central epsilon"):
        pk.release(more[:900], plan)
    with pytest.raises(pk.RefusedError, match="central epsilon"):
        pk.check(more[:900], plan)
    missed = pk.release(more[:900], plan, allow_fewer=True).certificate
    assert missed.central.delta == 1 / 9000
    assert missed.central.epsilon > 0.5
    assert any("not reached" in sentence for sentence in missed.statement)
    reached = pk.release(more, plan).certificate  # so many rows make up for it
    assert reached.central.epsilon < 0.5
    assert not any("not reached" in sentence for sentence in reached.statement)


def test_central_epsilon_is_absent_with_a_reason():
    assert "hidden" in KINDS["hidden"]().certificate.central_absent
    assert "13 units" in KINDS["many units"]().certificate.central_absent
    for kind in ("hidden", "many units", "seeded", "passed"):
        assert KINDS[kind]().certificate.central is None


@pytest.mark.parametrize(
    "forged", [{"epsilon": "99", "delta": "1e-05"}, {"epsilon": "-1", "delta": "1e-05"}, {"epsilon": "0.1", "delta": "1e-09"}]
)  # fmt: skip
def test_an_impossible_central_epsilon_is_refused(forged):
    release = KINDS["central"]()
    data = release.certificate.to_json()
    data["claims"]["central"] = forged
    with pytest.raises(pk.PlanError):
        pk.Certificate.from_json(data, release.plan)


def test_planned_and_released_rows():
    certificate = KINDS["fewer"]().certificate
    plan = pk.plan(SCHEMA, records=700, k=5)
    assert (certificate.planned, certificate.rows) == (700, 600)
    assert certificate.k_planned == plan.k > certificate.k == pytest.approx(float(plan.k_for(600)))
    claims = certificate.to_json()["claims"]
    assert Fraction(claims["k"]) <= plan.k_for(600)
    assert Fraction(claims["k_planned"]) <= plan.k_for(700)


def test_who_confirmed_and_what_a_row_is():
    certificate = KINDS["plain"]().certificate
    text = " ".join(certificate.assumptions)
    assert "A. Example, statistics office" in text
    assert 'The rows are declared to be "persons", by A. Example, statistics office.' in text
    assert "was not checked: the schema names no id." in text
    assert certificate.to_json()["confirmed"] == {
        "by": "A. Example, statistics office",
        "on": "2026-05-02",
        "rows_are": "persons",
    }
    bare = pk.plan(pk.Schema([SEX, EDU]), records=600, k=5)
    text = " ".join(pk.release(FRAME, bare).certificate.assumptions)
    assert "names nobody" in text
    assert "Nobody has declared what the rows are." in text


def test_a_confirmed_draft_is_not_said_to_have_been_written_without_the_table():
    """Its values were read off the table; what matters, and is only assumed, is that other people would not have changed them."""
    draft = pk.draft_schema(FRAME).schema
    plan = pk.plan(draft.confirm(by="A. Example", rows_are="persons"), records=600, k=5)
    (sentence,) = [text for text in pk.release(FRAME, plan).certificate.assumptions if "declared values" in text]
    assert "read off" not in sentence
    assert sentence.endswith(
        "Columns, values and targets would have been the same with other people in the private table."
    )


def test_an_id_is_not_called_a_person():
    schema = pk.Schema([pk.Attribute("case", role="id"), SEX, EDU])
    frame = FRAME.with_columns(case=pl.int_range(600))
    certificate = pk.release(frame, pk.plan(schema, records=600, k=5)).certificate
    (sentence,) = [sentence for sentence in certificate.assumptions if "'case'" in sentence]
    assert sentence.startswith(
        "The column 'case' was different in every row; then it was dropped. That its values stand for"
    )
    assert sentence.endswith("no program can check. Nobody has declared what the rows are.")
    assert "checked with" not in json.dumps(certificate.to_json())


def test_known_links_lower_k_as_the_certificate_says():
    certificate = KINDS["plain"]().certificate
    plan = pk.plan(SCHEMA, records=600, k=5)
    sentence = certificate.assumptions[0]
    ratio = float(sentence.rpartition(" x ")[2].rstrip("."))
    assert "(599 - c)" in sentence
    assert ratio <= float(plan.anonymity_ratio) <= 1.01 * ratio


def test_the_digest_of_the_rows_is_the_same_in_every_file(tmp_path):
    release = KINDS["plain"]()
    release.save(tmp_path / "out", format="both")
    (tmp_path / "out" / "data.parquet").rename(tmp_path / "alone.parquet")
    assert pk.open_release(tmp_path / "alone.parquet").certificate == release.certificate
    changed = pl.read_parquet(tmp_path / "alone.parquet").with_columns(pl.col("sex").reverse())
    from pkanon._frames import write_parquet

    inside = pl.read_parquet_metadata(tmp_path / "alone.parquet")
    kept = {key: value for key, value in inside.items() if key.startswith("pkanon")}
    write_parquet(changed, tmp_path / "changed.parquet", kept, {})
    with pytest.raises(pk.DataError, match="certificate was written for"):
        pk.open_release(tmp_path / "changed.parquet")


def test_a_key_given_twice_is_refused(tmp_path):
    from pkanon._release.certificate import parse_certificate

    release = KINDS["plain"]()
    text = json.dumps(release.certificate.to_json())
    assert parse_certificate(text, release.plan) == release.certificate
    with pytest.raises(pk.PlanError, match="each key once"):
        parse_certificate('{"void": ["x"], ' + text[1:], release.plan)
    with pytest.raises(pk.PlanError, match="each key once"):
        parse_certificate(text.replace('"released": 600', '"released": 7, "released": 600'), release.plan)


def test_void_plans_state_nothing():
    keeps = pk.Plan(SCHEMA, tuple(pk.Retention(unit, replace=0) for unit in SCHEMA.units), records=600)
    drafted = pk.plan(pk.Schema([SEX, EDU], drafted=True), records=600, k=5)
    passed = pk.plan(pk.Schema([SEX, EDU, pk.Attribute("w", role="pass")]), records=600, k=5)
    for plan in (keeps, drafted, passed):
        assert plan.void_reasons
        for text in (str(plan), repr(plan), plan.explain(), plan._repr_html_()):
            assert "k = " not in text
            assert "epsilon =" not in text
        with pytest.raises(pk.TargetError, match="promises nothing"):
            plan.central()
    assert pk.release(FRAME, keeps).certificate.to_json()["claims"] is None


def test_the_share_of_rows_that_stay_as_given():
    for design in ("equal-rho", "joint", "optimal"):
        plan = pk.plan(SCHEMA, records=600, k=5, design=design)
        low, high = plan.unchanged
        frame = pl.DataFrame({"sex": ["F"] * 60000, "edu": ["none"] * 60000})
        rows = pk.release(frame, plan, randomness=pk.Seeded(3)).codes
        same = ((rows["sex"] == 0) & (rows["edu"] == 0)).mean()
        assert low == high
        assert same == pytest.approx(float(low), abs=0.01)
        assert f"{100 * float(high):.1f}"[:2] in plan.explain()


@pytest.mark.parametrize("options", [{"randomness": pk.Seeded(1)}, {"drafted_not_protected": True}])
def test_a_void_release_of_fewer_rows_speaks_of_no_k(options, tmp_path):
    """It has none, so there is none to be lower than planned."""
    schema = SCHEMA if "randomness" in options else pk.Schema([SEX, EDU], drafted=True)
    release = pk.release(FRAME, pk.plan(schema, records=700, k=5), allow_fewer=True, **options)
    release.save(tmp_path / "out")
    texts = [(tmp_path / "out" / name).read_text() for name in ("certificate.json", "README.txt", "datapackage.json")]
    for text in (*texts, release.certificate._repr_html_(), str(release)):
        assert "k = " not in text
        assert "planned k" not in text


def test_tiny_shares_and_deltas_are_said():
    from pkanon._plan import delta_above, share_above

    assert share_above(Fraction(0)) == "0%"
    assert share_above(Fraction(1, 10**400)) == "less than 0.001%"
    assert share_above(Fraction(1, 99_999)) == "0.00101%"
    assert delta_above(1e-05) == "1e-5"
    assert float(delta_above(1 / 30_000)) >= 1 / 30_000
