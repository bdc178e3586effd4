"""From a survey to a release: it passes every check, its tables fall within the predicted errors, and nobody is released twice."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from collecting import Respondents, make, opened, packed
from scipy.stats import binomtest, norm

import pkanon as pk
from pkanon._collect import set_stored_state, stored_status
from pkanon._collect.store import Layout, StoreFailure
from pkanon._collect.tally import Tally

PEOPLE = 5_000
SCHEMA = "_release/certificate.schema.json"


def fill(survey, database, count, seed=1):
    """Store the answers of simulated respondents; the respondents."""
    people = Respondents(survey, count, seed)
    store = opened(survey, database)
    rows = packed(survey, people.bodies())
    for start in range(0, count, 64):
        store.add(rows[start : start + 64])
    store.close()
    return people, rows


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, folder):
    if request.param == "sqlite":
        return f"sqlite:///{folder}/answers.db"
    return request.getfixturevalue("server").url


def test_a_survey_of_5000_becomes_a_release_like_any_other(folder, database):
    survey = make(folder, records=PEOPLE, k=20)
    people, rows = fill(survey, database, PEOPLE + 40)
    assert set_stored_state(survey, database, "closed")["state"] == "closed"
    release = pk.collect.release(survey, database, folder / "out")
    assert {path.name for path in (folder / "out").iterdir()} >= {"certificate.json", "data.parquet", "plan.json"}
    opened_again = pk.open_release(folder / "out")
    assert opened_again.rows == PEOPLE + 40
    certificate = json.loads((folder / "out" / "certificate.json").read_text())
    assert certificate["collection"] == {"mode": "open link", "batch": None}
    jsonschema.validate(certificate, json.loads((Path(pk.__file__).parent / SCHEMA).read_text()))
    assert release.certificate.k >= 20
    checked = pk.verify(folder / "out")
    assert checked["predicted.csv"].verdict == "kept"
    assert checked.ok, checked
    # the released rows are the stored ones
    sent = sorted(record for _, record in rows)
    codes = [opened_again.codes[a.name] for a in survey.plan.schema.randomised]
    layout = Layout.of(survey.plan)
    assert sorted(layout.pack(list(map(int, row))) for row in zip(*codes)) == sent
    # tables against the truth: the predicted error, and intervals that hold it
    for name in ("smokes", "age", "drives"):
        table = opened_again.crosstab(name).to_polars()
        truth = np.bincount(people.truth[name], minlength=len(table))
        deviation = np.abs(table["estimate"].to_numpy() - truth) / table["std_error"].to_numpy()
        assert (deviation < norm.isf(1e-9)).all(), name
        squared = float(((table["estimate"].to_numpy() - truth) ** 2).mean())
        predicted = (PEOPLE * survey.plan.predict(name).standard_error) ** 2
        assert squared < 40 * predicted, name  # chi-square with one degree of freedom at 1e-9


def test_a_certificate_that_tells_another_story_is_found_out(folder):
    survey = make(folder, records=150)
    database = f"sqlite:///{folder}/answers.db"
    fill(survey, database, 160)
    set_stored_state(survey, database, "closed")
    pk.collect.release(survey, database, folder / "out")
    path = folder / "out" / "certificate.json"
    told = json.loads(path.read_text())
    for story in (None, {"mode": "invited, unlinkable given separation", "batch": None}, {"mode": "sent by post"}, 7):
        path.write_text(json.dumps(told | {"collection": story}))
        assert not pk.verify(folder / "out").ok
        with pytest.raises(pk.PkanonError):
            pk.open_release(folder / "out")


def test_the_order_of_a_release_is_not_that_of_arrival(folder):
    survey = make(folder, records=2_000)
    database = f"sqlite:///{folder}/answers.db"
    _, rows = fill(survey, database, 2_000)
    set_stored_state(survey, database, "closed")
    release = pk.collect.release(survey, database, folder / "out")
    sent = np.array([record[0] for _, record in rows])  # the first attribute, as it arrived
    agree = int((release.codes["smokes"] == sent).sum())
    share = sent.mean()
    assert binomtest(agree, 2_000, share**2 + (1 - share) ** 2).pvalue > 1e-6


def test_fewer_than_promised_are_refused_unless_that_is_meant(folder):
    survey = make(folder)
    database = f"sqlite:///{folder}/answers.db"
    fill(survey, database, 300)
    with pytest.raises(pk.RefusedError, match="not closed"):
        pk.collect.release(survey, database, folder / "out")
    set_stored_state(survey, database, "closed")
    with pytest.raises(pk.RefusedError, match="There are 300 answers and people were promised k for 400"):
        pk.collect.release(survey, database, folder / "out")
    release = pk.collect.release(survey, database, folder / "out", allow_fewer=True)
    assert release.certificate.k < release.certificate.k_planned
    with pytest.raises(pk.RefusedError, match="released already"):
        pk.collect.release(survey, database, folder / "again", allow_fewer=True)
    assert stored_status(survey, database)["state"] == "released"


@pytest.mark.parametrize("count", [0, 1])
def test_nobody_is_hidden_among_none(folder, count):
    survey = make(folder)
    database = f"sqlite:///{folder}/answers.db"
    fill(survey, database, count)
    set_stored_state(survey, database, "closed")
    with pytest.raises(pk.DataError, match="nobody can be hidden"):
        pk.collect.release(survey, database, folder / "out", allow_fewer=True)


def test_batches_are_disjoint_and_know_their_own_n(folder, database):
    survey = make(folder, records=150)
    fill(survey, database, 0)
    everyone = []
    releases = []
    for number, count in enumerate((160, 155), 1):
        store = opened(survey, database)
        rows = packed(survey, Respondents(survey, count, seed=number).bodies())
        store.add(rows)
        store.close()
        everyone += rows
        releases.append(pk.collect.release(survey, database, folder / f"batch-{number}", batch=True))
    assert [release.rows for release in releases] == [160, 155]
    assert [release.certificate.collection.batch for release in releases] == [1, 2]
    assert releases[1].certificate.k == pytest.approx(float(survey.plan.k_for(155)), rel=1e-9)
    with pytest.raises(pk.DataError, match="no answers to release"):
        pk.collect.release(survey, database, folder / "empty", batch=True, allow_fewer=True)
    # keys of released answers are still known: a client that tries again is not counted again
    store = opened(survey, database)
    assert store.contents().known == dict(everyone)
    store.add([(b"k" * 16, everyone[0][1]), (b"l" * 16, everyone[1][1])])
    store.close()
    status = set_stored_state(survey, database, "closed")
    assert status["accepted"] == 317
    rest = pk.collect.release(survey, database, folder / "rest", allow_fewer=True)
    assert (rest.rows, rest.certificate.collection.batch) == (2, 3)


@pytest.mark.parametrize("fails", ["save", "end_batch"])
def test_a_batch_that_was_interrupted_is_released_with_the_same_rows(folder, database, monkeypatch, fails):
    """Answers that came after it are in the next batch, so no row is in two batches, and none is lost."""
    survey = make(folder, records=149 if fails == "save" else 148)
    _, first = fill(survey, database, 160)

    def failing(self, *args, **options):
        raise StoreFailure("The database failed.")

    target = pk.Release if fails == "save" else type(_closed(opened(survey, database)))
    with monkeypatch.context() as patched:
        patched.setattr(target, fails, failing)
        with pytest.raises(StoreFailure):
            pk.collect.release(survey, database, folder / "failed", batch=True)
    with pytest.raises(pk.RefusedError, match="batch was begun"):
        set_stored_state(survey, database, "closed")
    with pytest.raises(pk.RefusedError, match="batch was begun"):
        pk.collect.app(survey, database)
    _, second = fill(survey, database, 155, seed=2)
    releases = [pk.collect.release(survey, database, folder / f"batch-{i}", batch=True) for i in (1, 2)]
    layout = Layout.of(survey.plan)
    for release, rows, number in zip(releases, (first, second), (1, 2)):
        assert release.certificate.collection.batch == number
        codes = zip(*(release.codes[a.name] for a in survey.plan.schema.randomised))
        assert sorted(layout.pack(list(map(int, row))) for row in codes) == sorted(record for _, record in rows)
    assert set_stored_state(survey, database, "closed")["accepted"] == 315


def _closed(store):
    store.close()
    return store


def test_after_the_last_number_there_is_no_batch_and_nothing_is_written(folder, database):
    survey = make(folder, records=147)
    fill(survey, database, 160)
    store = opened(survey, database)
    for _ in range(255):
        store.end_batch()
    store.close()
    with pytest.raises(pk.InputError, match="255 batches"):
        pk.collect.release(survey, database, folder / "out", batch=True)
    assert not (folder / "out").exists()
    set_stored_state(survey, database, "closed")
    assert pk.collect.release(survey, database, folder / "out").rows == 160


def test_a_batch_that_is_near_to_what_was_shown_is_refused(folder, database):
    survey = make(folder, records=146)
    rows = packed(survey, Respondents(survey, 161).bodies())
    store = opened(survey, database)
    store.add(rows, Tally(Layout.of(survey.plan), [record for _, record in rows[:150]]).now())
    store.close()
    with pytest.raises(pk.RefusedError, match="Results of 150 answers were shown, and there are 161"):
        pk.collect.release(survey, database, folder / "out", batch=True)


def test_a_closed_survey_stays_closed(folder, database):
    survey = make(folder, records=399)
    fill(survey, database, 10)
    assert set_stored_state(survey, database, "paused")["state"] == "paused"
    assert set_stored_state(survey, database, "open")["state"] == "open"
    set_stored_state(survey, database, "closed")
    for state in ("open", "paused"):
        with pytest.raises(pk.RefusedError, match="closed for ever"):
            set_stored_state(survey, database, state)
