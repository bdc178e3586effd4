"""pkanon confirm: every question, every way out of it, and the file before and after."""

import contextlib
import datetime as dt
import io
import json
import os
import subprocess
import sys
import tomllib

import pytest

import pkanon as pk

COLUMNS = """\
# as on the card
[attributes.patient]
type = "integer"
role = "undecided"

[attributes.sex]  # as on the form
values = ["F", "M"]
drafted = true
[attributes.job]
values = [
  "farmer",  # with land
  "nurse",
]
drafted = true
[attributes.age]
type = "integer"
bins = { start = 0, stop = 90, width = 30 }
open = "high"
role = "undecided"
drafted = true
# free text
[attributes.remark]
role = "undecided"
[attributes.case]
role = "drop"
"""
FLAGS = ["--yes", "--by", "J. Doe", "--rows-are", "visits"]
NO_ID = (
    "note: no column identifies persons, so nothing checks that nobody has several rows; the certificate will say so.\n"
)
ROLES = ["--role", "remark=drop", "--role", "age=randomise", "--one-at-random", "patient"]


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def asked(place, monkeypatch):
    """Runs pkanon confirm on a terminal with these answers; the file it is about is visits.toml."""
    place.write("visits.toml", "# DRAFT: read off the data.\n# ! look into patient\n\n" + COLUMNS)

    def ask(*answers, arguments=()):
        monkeypatch.setattr("sys.stdin", Terminal("".join(f"{answer}\n" for answer in answers)))
        return place.run("confirm", "visits.toml", *arguments)

    return ask


def text(place):
    return (place.folder / "visits.toml").read_text()


EVERYTHING = [
    *("id", "y", "y"),  # patient: its role, it stands for a person, who may have several rows
    *("y", "y"),  # sex: public, complete
    *("y", "y"),  # job
    *("randomise", "y", "y"),  # age
    "drop",  # remark
    "visits",
    "J. Doe, data office",
    "y",
]


def test_a_whole_interview(place, asked):
    code, out, err = asked(*EVERYTHING)
    assert code == 0, err
    assert out == "Confirmed visits.toml: 3 columns to randomise, by J. Doe, data office.\n"
    assert "This will be published:" in err
    assert "  job: 2 values: farmer, nurse" in err
    assert "  age: 4 values: 0-29, 30-59, 60-89, 90+" in err
    assert "Not published but for their names: patient, remark, case." in err
    assert "Dropped, as the file says: case." in err
    today = dt.date.today().isoformat()
    assert text(place) == (
        f'[confirmed]\nby = "J. Doe, data office"\non = {today}\nrows_are = "visits"\n\n'
        + COLUMNS.replace("drafted = true\n", "")
        .replace(
            'type = "integer"\nrole = "undecided"\n', 'type = "integer"\nrole = "id"\nrepeats = "one at random"\n', 1
        )
        .replace('open = "high"\nrole = "undecided"\n', 'open = "high"\n')
        .replace('[attributes.remark]\nrole = "undecided"', '[attributes.remark]\nrole = "drop"')
    )
    schema = pk.read_schema("visits.toml")
    assert (schema.drafted, schema.undecided) == (False, ())
    assert (schema.confirmed_by, schema.confirmed_on, schema.rows_are) == ("J. Doe, data office", today, "visits")
    assert schema.repeating.name == "patient"
    assert pk.plan(schema, records=100, k=2).to_json()["confirmed"]["rows_are"] == "visits"


def test_every_value_of_a_list_is_shown_before_it_is_public(place, monkeypatch):
    towns = [f"town {i}" for i in range(39)]
    place.write(
        "towns.toml",
        f'[attributes.town]\nvalues = {[*towns, "Quastenberg"]}\nmerge = {{ "town 1" = ["the old mill"] }}\n'
        "[attributes.age]\ntype = 'integer'\nbins = { start = 0, stop = 100, width = 5 }\nopen = 'high'\n"
        "[attributes.code]\ncodes = 'iso3166-1-alpha2'\n",
    )
    monkeypatch.setattr("sys.stdin", Terminal("n\nn\n"))
    code, _, err = place.run("confirm", "towns.toml")
    assert code == 2
    assert "40 values: town 0, town 1," in err
    assert "town 38, Quastenberg; merged into them, and published in the plan: the old mill\n" in err
    monkeypatch.setattr("sys.stdin", Terminal("y\ny\n" * 2 + "n\nn\n"))
    err = place.run("confirm", "towns.toml")[2]
    assert "21 values: 0-4, 5-9, 10-14, 15-19, 20-24, 25-29, ... 13 more ..., 95-99, 100+\n" in err
    assert "249 values: AD, AE, AF, AG, AI, AL, ... 241 more ..., ZM, ZW\n" in err


def test_the_same_in_a_script(place):
    place.write("visits.toml", COLUMNS)
    code, out, err = place.run("confirm", "visits.toml", *FLAGS, *ROLES, "--on", "2026-05-02", "--json")
    assert code == 0, err
    assert json.loads(out) == {
        "file": "visits.toml",
        "confirmed": {"by": "J. Doe", "on": "2026-05-02", "rows_are": "visits"},
        "columns": {
            "patient": "id",
            "sex": "randomise",
            "job": "randomise",
            "age": "randomise",
            "remark": "drop",
            "case": "drop",
        },
        "one_at_random": "patient",
        "comments_kept": True,
    }
    for comment in ("# as on the card", "# as on the form", "# with land", "# free text"):
        assert comment in text(place)
    assert tomllib.loads(text(place))["confirmed"]["on"] == dt.date(2026, 5, 2)


@pytest.mark.parametrize("stop", range(len(EVERYTHING)))
def test_whoever_stops_before_the_end_has_changed_nothing(place, asked, stop):
    before = text(place)
    code, out, err = asked(*EVERYTHING[:stop])  # then the input ends
    assert (code, out, text(place)) == (130, "", before)
    assert "nothing was confirmed, and visits.toml is unchanged." in err
    assert place.names() == ["people.csv", "people.toml", "plan.json", "visits.toml"]


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ([*EVERYTHING[:-1], "n"], "You did not agree"),
        (["drop", "n", "n"], "The values of 'sex' are not public"),
        (["drop", "y", "n"], "The values of 'sex' are not complete"),
        (["id", "n", "n"], "'patient' is the id and does not identify persons"),
        (["pass", "n", "n"], "'patient' is neither"),
        (["drop", *["y"] * 4, "drop", "drop", "visits", "n"], "Persons may have several rows"),
    ],
)
def test_a_no_leaves_the_file_as_it_is(place, asked, answers, sentence):
    before = text(place)
    code, out, err = asked(*answers)
    assert (code, out, text(place)) == (2, "", before)
    (last,) = [line for line in err.splitlines() if "error:" in line]
    assert sentence in last
    assert last.endswith("Nothing was confirmed, and visits.toml is unchanged.")


def test_what_is_not_public_can_be_dropped(place, asked):
    code, _, err = asked("id", "n", "y", "n", "y", "y", "y", "drop", "pass", "n", "y", "persons", "y", "J. Doe", "y")
    assert code == 0, err
    schema = pk.read_schema("visits.toml")
    assert [attribute.name for attribute in schema.randomised] == ["job"]
    assert {attribute.role for attribute in schema.attributes} == {"randomise", "drop"}
    assert schema.repeating is None


def test_what_was_typed_is_not_asked(place, asked):
    typed = [
        "--by",
        "J. Doe",
        "--rows-are",
        "persons",
        "--role",
        "remark=drop",
        "--role",
        "age=drop",
        "--role",
        "patient=id",
    ]
    code, _, err = asked("y", "y", "y", "y", "y", arguments=typed)
    assert code == 0, err
    assert pk.read_schema("visits.toml").rows_are == "persons"


def test_a_column_with_a_value_for_all_others_is_complete(place, asked):
    place.write("visits.toml", '[attributes.job]\nvalues = ["farmer", "nurse"]\nother = "other"\nmissing = "value"\n')
    code, _, err = asked("y", "persons", "y", "J. Doe", "y")
    assert code == 0, err
    assert "4 values: farmer, nurse, other, (missing)" in err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "this is no terminal"),
        (["--by", "J. Doe", "--rows-are", "visits", *ROLES], "this is no terminal"),
        (["--yes"], "--by and --rows-are"),
        (["--yes", "--by", "J. Doe"], "--by and --rows-are"),
        (FLAGS, "Nobody has given a role to patient, age, remark; say --role"),
        ([*FLAGS, *ROLES[2:]], "Nobody has given a role to remark;"),
        ([*FLAGS, *ROLES, "--role", "remark"], "Write --role NAME=ROLE"),
        ([*FLAGS, *ROLES, "--role", "remark=undecided"], "Write --role NAME=ROLE"),
        ([*FLAGS, *ROLES, "--role", "remarks=drop"], "no attribute 'remarks'"),
        ([*FLAGS, *ROLES, "--role", "remark=randomise"], "attribute 'remark': declare its values"),
        ([*FLAGS, *ROLES, "--by", "two\nlines"], "must be a text on one line"),
        ([*FLAGS, *ROLES, "--by", ""], "must be a text on one line"),
        (
            [*FLAGS, *ROLES, "--role", "sex=drop", "--role", "job=drop", "--role", "age=drop"],
            "no attribute to randomise",
        ),
    ],
)
def test_refusals_are_one_sentence_and_change_nothing(place, arguments, sentence):
    place.write("visits.toml", COLUMNS)
    code, out, err = place.run("confirm", "visits.toml", *arguments)
    assert (code, out, text(place)) == (2, "", COLUMNS)
    assert sentence in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("absent.toml", None, "Cannot read the schema absent.toml"),
        ("visits.toml", b"\xff", "not UTF-8"),
        ("visits.toml", b"a = ", "not valid TOML"),
        ("visits.toml", b"", "declares no attributes"),
        ("people.csv", None, "is a table, not a schema"),
        ("plan.json", None, "is not a schema"),
    ],
)
def test_other_files(place, name, content, sentence):
    if content is not None:
        (place.folder / name).write_bytes(content)
    code, _, err = place.run("confirm", name, *FLAGS)
    assert code == 2
    assert sentence in err


def test_a_confirmation_takes_the_place_of_an_older_one(place):
    old = '# ours\ndomains = "drafted"\nrow_is = "one visit"\n\n[attributes.sex]\nvalues = ["F", "M"]\n'
    place.write("visits.toml", old)
    assert place.run("confirm", "visits.toml", *FLAGS, "--on", "May")[0] == 0
    first = text(place)
    assert first == (
        '# ours\n\n[confirmed]\nby = "J. Doe"\non = "May"\nrows_are = "visits"\n\n[attributes.sex]\nvalues = ["F", "M"]\n'
    )
    place.write("visits.toml", first + "drafted = true\n")  # somebody drafted it again
    with pytest.raises(pk.SchemaError, match="still is drafted"):
        pk.read_schema("visits.toml")
    assert place.run("confirm", "visits.toml", *FLAGS, "--on", "May")[0] == 0
    assert text(place) == first


def test_the_rows_of_before_are_proposed(place, asked):
    place.write("visits.toml", 'row_is = "one visit"\n[attributes.sex]\nvalues = ["F", "M"]\n')
    code, _, err = asked("y", "y", "", "y", "J. Doe", "y")
    assert code == 0, err
    assert pk.read_schema("visits.toml").rows_are == "one visit"


@pytest.mark.parametrize(
    "layout",
    [
        'attributes.sex.values = ["F", "M"]\nattributes.sex.drafted = true\n',
        '[attributes]\nsex = { values = ["F", "M"], drafted = true }\n',
        '[attributes.sex]\nvalues = ["F", """\ndrafted = true\n"""]\ndrafted = true\n',
    ],
)
def test_a_layout_that_cannot_be_followed_is_written_anew(place, layout):
    place.write("visits.toml", "# ours\n" + layout)
    before = pk.read_schema("visits.toml")
    code, _, err = place.run("confirm", "visits.toml", *FLAGS)
    assert code == 0
    assert "note: visits.toml was written anew: its comments are gone." in err
    after = pk.read_schema("visits.toml")
    assert (after.attributes, after.drafted) == (before.attributes, False)


def test_tables_inside_tables_are_followed(place):
    ages = pk.Attribute.binned("age", edges=[0, 18, 65], open="high")
    schema = pk.Schema([ages, pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("zip", 0, 9)], drafted=True)
    written = "# ours\n" + schema.to_toml().replace("[attributes.sex]", "# as on the form\n[attributes.sex]")
    for roles, kept in (((), ["age", "sex", "zip"]), (("--role", "age=drop"), ["sex", "zip"])):
        place.write("visits.toml", written)
        code, _, err = place.run("confirm", "visits.toml", *FLAGS, *roles)
        assert (code, err) == (0, NO_ID)
        assert "# as on the form" in text(place)
        found = pk.read_schema("visits.toml")
        assert [attribute.name for attribute in found.randomised] == kept
        assert (found.names, found.drafted) == (schema.names, False)


def test_line_ends_mode_and_links_stay(place):
    (place.folder / "real.toml").write_bytes(COLUMNS.replace("\n", "\r\n").encode("utf-8-sig"))
    (place.folder / "real.toml").chmod(0o640)
    (place.folder / "visits.toml").symlink_to("real.toml")
    assert place.run("confirm", "visits.toml", *FLAGS, *ROLES)[0] == 0
    content = (place.folder / "real.toml").read_bytes()
    assert content.count(b"\n") == content.count(b"\r\n")
    assert (place.folder / "visits.toml").is_symlink()
    assert (place.folder / "real.toml").stat().st_mode & 0o777 == 0o640
    assert pk.read_schema("visits.toml").confirmed_by == "J. Doe"


def test_a_file_that_changed_during_the_questions_is_left_alone(place, asked, monkeypatch):
    changed = COLUMNS + "# meanwhile\n"
    agree = __import__("click").confirm

    def confirm(question, **options):
        if "Write this" in question:
            place.write("visits.toml", changed)
        return agree(question, **options)

    monkeypatch.setattr("click.confirm", confirm)
    code, _, err = asked(*EVERYTHING)
    assert (code, text(place)) == (2, changed)
    assert "has changed meanwhile" in err
    assert place.names() == ["people.csv", "people.toml", "plan.json", "visits.toml"]


@pytest.fixture
def drafted(place):
    """visits.toml as a draft of visits in which patients come twice, and forms once."""
    rows = [f"P{i % 150:05},{'FM'[i % 2]},F{i:06}" for i in range(300)]
    place.write("visits.csv", "\n".join(["patient,sex,form", *rows]) + "\n")
    assert place.run("schema", "visits.csv", "-o", "visits.toml")[0] == 0


def test_what_the_draft_found_is_shown_where_it_is_decided(place, drafted, monkeypatch):
    monkeypatch.setattr("sys.stdin", Terminal("id\ny\ny\ny\ny\ndrop\nvisits\nJ. Doe\ny\n"))
    code, _, err = place.run("confirm", "visits.toml")
    assert code == 0, err
    column = err[err.index("1 of 3: patient") : err.index("2 of 3: sex")]
    assert (
        "  The draft says: Column 'patient' repeats and looks like the number or name of a person: rows may" in column
    )
    assert "keep one row per person.\n" in column  # the whole comment, which has several lines
    assert err.startswith("The draft says: Every column holds texts")  # about the whole file
    assert err.count("The draft says") == 3  # and the form


@pytest.mark.parametrize("form", ["drop", "id"])  # a form is unique, and is no person
def test_patients_with_several_rows_are_not_dropped_without_a_word(place, drafted, monkeypatch, form):
    before = text(place)
    roles = ["--role", "patient=drop", "--role", f"form={form}"]
    code, _, err = place.run("confirm", "visits.toml", *FLAGS, *roles)
    assert code == 2
    assert (
        "Say --one-at-random NAME for the column that identifies persons, or --one-row-each if nobody has several rows"
        in err
    )
    monkeypatch.setattr(
        "sys.stdin", Terminal(("drop\ny\ny\nid\ny\nn\n" if form == "id" else "drop\ny\ny\ndrop\n") + "persons\nn\n")
    )
    code, _, err = place.run("confirm", "visits.toml")
    assert code == 2
    assert "Persons may have several rows" in err
    assert text(place) == before
    assert place.run("confirm", "visits.toml", *FLAGS, *roles, "--one-row-each")[0] == 0


def test_a_draft_of_some_columns_remembers_numbers_that_repeat(place):
    rows = [f"{10_000 + i % 150},{'FM'[i % 2]}" for i in range(300)]  # by their form only, so they are not in the file
    place.write("visits.csv", "\n".join(["vnr,sex", *rows]) + "\n")
    assert place.run("schema", "visits.csv", "--columns", "sex", "-o", "visits.toml")[0] == 0
    assert "[attributes.vnr]" not in text(place)
    code, _, err = place.run("confirm", "visits.toml", *FLAGS)
    assert code == 2
    assert "Column 'vnr' repeats" in err


def test_addresses_that_come_again_are_answered_by_an_id_or_by_a_word(place):
    rows = [f"{i},u{i % 150}@example.org,{'FM'[i % 2]}" for i in range(300)]
    place.write("visits.csv", "\n".join(["number,mail,sex", *rows]) + "\n")
    assert place.run("schema", "visits.csv", "-o", "visits.toml")[0] == 0
    dropped = ["--role", "mail=drop", "--role"]
    code, _, err = place.run("confirm", "visits.toml", *FLAGS, *dropped, "number=drop")
    assert code == 2
    assert "Column 'mail' holds values that come again: a person may have several rows" in err
    assert "Say --one-at-random NAME for the column that identifies persons" in err  # which need not be this one
    before = text(place)
    assert place.run("confirm", "visits.toml", *FLAGS, *dropped, "number=drop", "--one-row-each")[0] == 0
    place.write("visits.toml", before)
    assert place.run("confirm", "visits.toml", *FLAGS, *dropped, "number=id")[0] == 0


@pytest.mark.parametrize("name", ["job", "job [code]", 'the job\'s "code" # 3 ]'])
def test_rare_values_are_answered_for_by_name(place, name):
    quoted = name.replace('"', '""')
    opened = "[attributes.job]" if name == "job" else f"[attributes.{json.dumps(name)}]"
    rows = [f"{i % 90},{'farmer' if i else 'keeper of the lighthouse'}" for i in range(300)]
    place.write("visits.csv", "\n".join([f'age,"{quoted}"', *("1,nurse" for _ in range(9)), *rows]) + "\n")
    assert place.run("schema", "visits.csv", "-o", "visits.toml")[0] == 0
    draft = text(place)
    code, _, err = place.run("confirm", "visits.toml", *FLAGS)
    assert (code, err.count("\n"), text(place)) == (2, 1, draft)
    assert f"for which --yes does not answer: {name}. Say --role NAME=randomise if the list is public" in err
    assert "lighthouse" not in err
    assert place.run("confirm", "visits.toml", *FLAGS, "--role", f"{name}=randomise")[0] == 0
    assert pk.read_schema(place.folder / "visits.toml").attribute(name).role == "randomise"
    head, tail = draft.split(opened)  # corrected by hand, and marked so
    place.write("visits.toml", head + opened + tail.replace("drafted = true\n", ""))
    assert place.run("confirm", "visits.toml", *FLAGS)[0] == 0


def test_rows_of_which_one_is_drawn_are_hardly_persons(place, drafted):
    roles = ["--role", "form=drop", "--one-at-random", "patient"]
    code, _, err = place.run("confirm", "visits.toml", "--by", "J. Doe", "--rows-are", "Persons", "--yes", *roles)
    assert code == 0
    assert "note: one row of each person is drawn, so rows are hardly persons" in err
    code, _, err = place.run("confirm", "visits.toml", "--by", "J. Doe", "--rows-are", "visits", "--yes", *roles)
    assert (code, err) == (0, "")


OWN_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C reaches it
os.execv(sys.executable, [sys.executable, "-m", "pkanon", "confirm", "visits.toml"])
"""


@pytest.mark.parametrize("interrupted", [True, False])
def test_on_a_real_terminal(place, interrupted):
    """As a process of its own: the questions are seen, and Ctrl-C changes nothing."""
    place.write("visits.toml", '[attributes.sex]\nvalues = ["F", "M"]\n')
    terminal, end = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", OWN_TERMINAL],
        cwd=place.folder, stdin=end, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    os.close(end)
    questions = [b"Would you list", b"complete", b"What is one row", b"Are you sure", b"Who", b"Write this"]
    answers = [b"y", b"y", b"persons", b"y", b"J. Doe", b"y"]
    for question, answer in zip(questions, answers[: 3 if interrupted else None]):
        seen = b""
        while question not in seen:
            letter = process.stderr.read(1)
            assert letter, seen
            seen += letter
        os.write(terminal, answer + b"\n")
    err = None
    while err is None:
        if interrupted:
            os.write(terminal, b"\x03")
        with contextlib.suppress(
            subprocess.TimeoutExpired
        ):  # a signal just before the read is not noticed: press again
            _, err = process.communicate(timeout=10 if interrupted else None)
    os.close(terminal)
    assert process.returncode == (130 if interrupted else 0), err
    assert ("confirmed" in text(place)) == (not interrupted)


def test_from_file_to_an_honest_release(place):
    """Repeated ids and a remark: neither can be published or certified by accident."""
    rows = [f"{i % 150},{'FM'[i % 2]},{('farmer', 'nurse')[i % 2]},{i % 90},met Mrs Smith,{i}" for i in range(300)]
    place.write("visits.csv", "\n".join(["patient,sex,job,age,remark,case", *rows]) + "\n")
    place.write("visits.toml", COLUMNS)
    release = ["release", "visits.csv", "--schema", "visits.toml", "--k", "3", "-o", "out"]
    assert place.run(*release)[0] == 2
    assert place.run(*release, "--drafted-not-protected")[0] == 2
    assert place.run("confirm", "visits.toml", *FLAGS, *ROLES)[0] == 0
    code, out, err = place.run(*release)
    assert code == 0, err
    assert out.startswith("Released 150 rows to out.")
    assert "note: these are persons: one row of each value of 'patient' was drawn at random.\n" in err
    assert place.run("verify", "out")[0] == 0
    for file in (place.folder / "out").iterdir():
        assert b"Smith" not in file.read_bytes()
    code, _, err = place.run("attack", "visits.csv", "out")
    assert code == 2
    assert "several rows of some persons" in err
    code, _, err = place.run("crosstab", "out", "sex")
    assert code == 0
    assert "one row of each person, drawn at random" in err
