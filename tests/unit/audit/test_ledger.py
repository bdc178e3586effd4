"""The ledger: what counts, what is refused, and that nothing in it can be changed."""

import os
import sqlite3
import stat
import threading
from fractions import Fraction

import polars as pl
import pytest

import pkanon as pk
from pkanon._audit.ledger import store

SEX = pk.Schema([pk.Attribute("sex", ["F", "M"])])
PEOPLE = pl.DataFrame({"sex": ["F", "M"] * 500})
PLAN = pk.plan(SEX, records=1_000, epsilon=2)
SUBJECT = "patients 2026"


@pytest.fixture
def ledger(tmp_path):
    return pk.Ledger(tmp_path / "people.ledger")


def release(ledger, plan=PLAN, table=PEOPLE, randomness=None, **options):
    with ledger.reserve(SUBJECT, plan, randomness=randomness) as reservation:
        return reservation.release(table, **options)


def watch(monkeypatch):
    """What happens from now on, in order: an entry is written, a table is read, a key is drawn."""
    from pkanon._release import pipeline

    seen = []

    def told(word, honest):
        def tell(*arguments, **options):
            result = honest(*arguments, **options)
            seen.append(word)
            return result

        return tell

    monkeypatch.setattr(pk.Ledger, "reserve", told("reserved", pk.Ledger.reserve))
    monkeypatch.setattr(pipeline, "encode", told("read", pipeline.encode))
    monkeypatch.setattr(pipeline, "Keystream", told("drawn", pipeline.Keystream))
    return seen


def states(ledger):
    return [entry.state for entry in ledger.account(SUBJECT).entries]


class TestWhatIsSpent:
    def test_a_release_is_written_down(self, ledger):
        made = release(ledger)
        (entry,) = ledger.account(SUBJECT).entries
        assert (entry.number, entry.state, entry.plan, entry.records, entry.rows) == (
            1,
            "released",
            PLAN.digest,
            1_000,
            1_000,
        )
        assert Fraction(entry.k) <= Fraction(made.certificate.k)
        assert entry.data == made.certificate.digests["data"]
        assert entry.date.endswith("+00:00")
        assert entry.reason is None

    def test_epsilon_is_never_understated(self, ledger):
        for _ in range(3):
            release(ledger)
        account = ledger.account(SUBJECT)
        one = Fraction(account.entries[0].epsilon)
        assert Fraction(PLAN.epsilon) <= one < Fraction(PLAN.epsilon) + Fraction(1, 10**11)
        assert account.spent == 3 * one  # exactly: no float is added
        assert Fraction(account.spent_text) >= account.spent

    def test_central_epsilons_and_their_deltas_add_up(self, ledger):
        release(ledger)
        release(ledger, table=PEOPLE[:600], allow_fewer=True)
        account = ledger.account(SUBJECT)
        wholes = [PLAN.central(), pk.Plan(PLAN.schema, PLAN.blocks, 600).central()]
        epsilon, delta = account.central
        assert (
            sum(w.epsilon for w in wholes) <= epsilon < sum(w.epsilon for w in wholes) + 2e-6
        )  # the digits of a certificate
        assert delta == sum(Fraction(repr(w.delta)) for w in wholes)
        assert epsilon < account.spent

    def test_a_release_without_a_central_epsilon_adds_its_own(self, ledger):
        hidden = pk.plan(SEX, records=900, epsilon=2, hide_count="9/10")
        release(ledger, hidden)
        account = ledger.account(SUBJECT)
        assert account.entries[0].central_epsilon is None
        assert account.central == (account.spent, 0)

    def test_a_hidden_count_spends_the_larger_epsilon(self, ledger):
        hidden = pk.plan(SEX, records=900, epsilon=2, hide_count="9/10")
        release(ledger, hidden)
        assert ledger.account(SUBJECT).spent >= Fraction(hidden.epsilon_unbounded) > Fraction(hidden.epsilon)

    def test_the_sum_is_that_of_a_composition_or_a_little_above(self, ledger):
        hidden = pk.plan(SEX, records=900, epsilon=2, hide_count="9/10")
        for plans in ([PLAN, PLAN], [hidden, hidden], [PLAN, hidden]):
            subject = f"people of {len(ledger.accounts()) if ledger.path.exists() else 0}"
            for plan in plans:
                ledger.reserve(subject, plan, new_subject=True)
            total = pk.compose(plans)
            wanted = total.epsilon if total.epsilon_unbounded is None else total.epsilon_unbounded
            spent = ledger.account(subject).spent
            assert Fraction(wanted) <= spent + Fraction(1, 10**15)  # a composition rounds to a float, upwards
            assert plans[0] is not plans[1] or spent < Fraction(wanted) + Fraction(1, 10**11)

    def test_entries_are_numbered_through_the_ledger(self, ledger):
        ledger.set_limit(SUBJECT, 100)
        release(ledger)
        ledger.reserve("staff", PLAN, new_subject=True)
        ledger.abandon(2, reason="a test")
        release(ledger)
        numbers = {subject: [entry.number for entry in a.entries] for subject, a in ledger.accounts().items()}
        assert numbers == {SUBJECT: [1, 3], "staff": [2]}

    def test_subjects_are_apart(self, ledger):
        release(ledger)
        ledger.reserve("staff", PLAN, new_subject=True)
        assert list(ledger.accounts()) == [SUBJECT, "staff"]
        assert ledger.account("staff").spent == ledger.account(SUBJECT).spent
        with pytest.raises(pk.InputError, match=r"has no subject 'pilots'\. Available: patients 2026, staff"):
            ledger.account("pilots")

    def test_nothing_personal_is_in_the_file(self, ledger):
        people = pl.DataFrame({"town": ["Xanadu", "Ruritania"] * 500})
        plan = pk.plan(pk.Schema([pk.Attribute("town", ["Xanadu", "Ruritania"])]), records=1_000, epsilon=2)
        release(ledger, plan, people)
        content = ledger.path.read_bytes()
        assert SUBJECT.encode() in content
        assert b"Xanadu" not in content
        assert b"town" not in content


class TestReservations:
    def test_a_reservation_counts_at_once(self, ledger):
        ledger.reserve(SUBJECT, PLAN)
        assert states(ledger) == ["reserved"]
        assert ledger.account(SUBJECT).spent > 1.99

    def test_a_table_that_is_refused_costs_nothing(self, ledger):
        with pytest.raises(pk.DataError):
            release(ledger, table=pl.DataFrame({"sex": ["F", "X"] * 500}))
        (entry,) = ledger.account(SUBJECT).entries
        assert (entry.state, entry.reason) == ("abandoned", "ended by DataError before any row was handed out")
        assert ledger.account(SUBJECT).spent == 0

    def test_rows_that_were_handed_out_count_whatever_happens_then(self, ledger):
        def fails():
            with ledger.reserve(SUBJECT, PLAN) as reservation:
                reservation.release(PEOPLE)
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fails()
        assert states(ledger) == ["reserved"]
        assert ledger.account(SUBJECT).spent > 1.99

    def test_a_reservation_that_is_not_used_is_abandoned(self, ledger):
        with ledger.reserve(SUBJECT, PLAN):
            pass
        assert states(ledger) == ["abandoned"]

    def test_a_reservation_is_for_one_release(self, ledger):
        with ledger.reserve(SUBJECT, PLAN) as reservation:
            reservation.release(PEOPLE)
            with pytest.raises(pk.RefusedError, match="reserve again"):
                reservation.release(PEOPLE)

    def test_threads_that_share_a_reservation_get_one_release(self, ledger):
        start, made, refused = threading.Barrier(4), [], []

        def work(reservation):
            start.wait()
            try:
                made.append(reservation.release(PEOPLE))
            except pk.RefusedError as error:
                refused.append(str(error))

        with ledger.reserve(SUBJECT, PLAN) as reservation:
            threads = [threading.Thread(target=work, args=(reservation,)) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert len(made) == 1
        assert refused == ["This reservation was used; reserve again for another release."] * 3
        assert states(ledger) == ["released"]

    def test_a_reservation_is_used_before_anything_is_drawn(self, ledger):
        refused = []

        def again(step, done):
            if not refused:
                with pytest.raises(pk.RefusedError, match="This reservation was used") as caught:
                    reservation.release(PEOPLE)
                refused.append(caught.value)

        with ledger.reserve(SUBJECT, PLAN) as reservation:
            reservation.release(PEOPLE, progress=again)
        assert len(refused) == 1

    def test_a_release_that_outlasts_its_statement_hands_out_no_rows(self, ledger):
        def end(step, done):
            if step == "shuffling" and done == 1.0:
                reservation.__exit__(None, None, None)

        reservation = ledger.reserve(SUBJECT, PLAN)
        with pytest.raises(pk.RefusedError, match="This reservation has ended"):
            reservation.release(PEOPLE, progress=end)
        assert states(ledger) == ["abandoned"]

    @pytest.mark.parametrize("fixed", [{"plan": PLAN}, {"randomness": pk.Seeded(7)}])
    def test_what_was_reserved_cannot_be_swapped(self, ledger, fixed):
        with (
            ledger.reserve(SUBJECT, PLAN) as reservation,
            pytest.raises(pk.InputError, match="The reservation fixes"),
        ):
            reservation.release(PEOPLE, **fixed)

    def test_a_reservation_is_written_off_with_a_reason(self, ledger):
        number = ledger.reserve(SUBJECT, PLAN).number
        account = ledger.abandon(number, reason=" the machine lost power ")
        assert account.spent == 0
        assert account.entries[0].reason == "the machine lost power"
        with pytest.raises(pk.RefusedError, match="Entry 1 is abandoned"):
            ledger.abandon(number, reason="again")

    def test_a_reservation_that_ended_makes_no_release(self, ledger):
        with ledger.reserve(SUBJECT, PLAN) as reservation:
            pass
        with pytest.raises(pk.RefusedError, match="This reservation has ended; reserve again"):
            reservation.release(PEOPLE)
        with pytest.raises(pk.RefusedError, match="This reservation has ended; reserve again"), reservation:
            pass
        assert states(ledger) == ["abandoned"]

    def test_a_reservation_that_somebody_abandoned_hands_out_no_rows(self, ledger):
        reservation = ledger.reserve(SUBJECT, PLAN)
        ledger.abandon(1, reason="taken for dead")
        with pytest.raises(pk.RefusedError, match=r"Entry 1 of .* is abandoned by now, so its rows were thrown away"):
            reservation.release(PEOPLE)
        with pytest.raises(pk.RefusedError, match="This reservation was used; reserve again"), reservation:
            reservation.release(PEOPLE)
        assert states(ledger) == ["abandoned"]

    def test_an_entry_that_is_abandoned_while_the_table_is_read_hands_out_no_rows(self, ledger):
        def abandon(step, done):
            if step == "shuffling" and done == 1.0:
                ledger.abandon(1, reason="taken for dead")

        with pytest.raises(pk.RefusedError, match="Entry 1 of"), ledger.reserve(SUBJECT, PLAN) as reservation:
            reservation.release(PEOPLE, progress=abandon)
        assert states(ledger) == ["abandoned"]

    def test_rows_count_even_if_their_entry_is_abandoned_meanwhile(self, ledger):
        ledger.set_limit(SUBJECT, 3)
        with ledger.reserve(SUBJECT, PLAN) as reservation:
            made = reservation.release(PEOPLE)
            ledger.abandon(1, reason="taken for dead")
            other = ledger.reserve(SUBJECT, PLAN)  # fits the limit by now
        account = ledger.account(SUBJECT)
        assert [(entry.number, entry.state) for entry in account.entries] == [
            (1, "abandoned"),
            (other.number, "reserved"),
            (reservation.number, "released"),
        ]
        counted = account.entries[2]
        assert counted.reason == "entry 1 was abandoned while its rows were handed out; they count here"
        assert (counted.plan, counted.records, counted.rows) == (PLAN.digest, 1_000, made.rows)
        assert account.spent > account.limit  # beyond it, and said so
        assert account.left == 0
        assert (account.exceeded_text, account.to_json()["exceeded"]) == ("1", "1")

    def test_rows_count_even_if_their_entry_is_abandoned_and_the_run_fails(self, ledger):
        reservation = ledger.reserve(SUBJECT, PLAN)

        def fails():
            with reservation:
                reservation.release(PEOPLE)
                ledger.abandon(1, reason="taken for dead")
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fails()
        assert states(ledger) == ["abandoned", "reserved"]
        assert ledger.account(SUBJECT).entries[1].number == reservation.number
        assert ledger.account(SUBJECT).spent > 1.99

    def test_a_second_reservation_object_of_an_entry_is_counted(self, ledger):
        first = ledger.reserve(SUBJECT, PLAN)
        second = pk.Reservation(ledger, 1, SUBJECT, PLAN)
        with first, second:
            first.release(PEOPLE)
            second.release(PEOPLE)
        assert states(ledger) == ["released", "released"]

    def test_statements_inside_each_other_count_once(self, ledger):
        reservation = ledger.reserve(SUBJECT, PLAN)
        with reservation, reservation:
            reservation.release(PEOPLE)
        assert states(ledger) == ["released"]

    def test_a_release_is_not_written_off(self, ledger):
        release(ledger)
        with pytest.raises(pk.RefusedError, match="Entry 1 is released and stays so"):
            ledger.abandon(1, reason="changed my mind")
        assert ledger.account(SUBJECT).spent > 1.99

    def test_only_entries_are_written_off(self, ledger):
        ledger.set_limit(SUBJECT, 5)
        with pytest.raises(pk.InputError, match="has no entry 1;"):
            ledger.abandon(1, reason="a limit is no entry")
        ledger.reserve(SUBJECT, PLAN)
        with pytest.raises(pk.InputError, match="Say why"):
            ledger.abandon(1, reason="  ")

    @pytest.mark.parametrize("wrong", ["two\nlines", "\x1b[31mred", "half a letter: \udcff"])
    def test_a_reason_is_a_line_of_text(self, ledger, wrong):
        ledger.reserve(SUBJECT, PLAN)
        with pytest.raises(pk.InputError, match="A reason is a text on one line"):
            ledger.abandon(1, reason=wrong)
        assert states(ledger) == ["reserved"]


class TestLimits:
    def test_the_next_release_is_refused_before_anything_is_read_or_drawn(self, ledger, monkeypatch):
        seen = watch(monkeypatch)
        ledger.set_limit(SUBJECT, 5)
        release(ledger)
        assert seen == ["reserved", "read", "drawn"]
        release(ledger)
        seen.clear()
        with pytest.raises(pk.RefusedError) as refused:
            release(ledger)
        assert seen == []
        assert str(refused.value) == (
            "This release needs epsilon 2 and the limit of 'patients 2026' leaves 1: 4 of 5 is spent."
        )
        assert states(ledger) == ["released", "released"]

    def test_a_plan_is_checked_without_being_reserved(self, ledger):
        ledger.check(SUBJECT, PLAN)
        assert not ledger.path.exists()
        ledger.set_limit(SUBJECT, 3)
        before = ledger.path.read_bytes()
        ledger.check(SUBJECT, PLAN)
        with pytest.raises(pk.RefusedError, match="has no epsilon"):
            ledger.check(SUBJECT, PLAN, randomness=pk.Seeded(7))
        with pytest.raises(pk.RefusedError, match="differs from it only in case, spaces or the form of a letter"):
            ledger.check(SUBJECT.upper(), PLAN)
        assert ledger.path.read_bytes() == before
        ledger.reserve(SUBJECT, PLAN)
        with pytest.raises(pk.RefusedError, match="needs epsilon 2 and the limit of 'patients 2026' leaves 1"):
            ledger.check(SUBJECT, PLAN)

    def test_a_limit_can_be_used_up_to_the_last_digit(self, ledger):
        ledger.set_limit(SUBJECT, "4")
        release(ledger)
        release(ledger)  # 2 x 2 is 4: epsilon of a plan is never above what was asked for
        assert ledger.account(SUBJECT).left < Fraction(1, 10**6)

    def test_one_part_in_a_trillion_is_too_much(self, ledger):
        ledger.reserve(SUBJECT, PLAN)
        one = ledger.account(SUBJECT).spent
        ledger.set_limit(SUBJECT, 2 * one - Fraction(1, 10**12))
        with pytest.raises(pk.RefusedError):
            ledger.reserve(SUBJECT, PLAN)
        ledger.set_limit(SUBJECT, 2 * one, raising=True)
        ledger.reserve(SUBJECT, PLAN)

    def test_a_limit_is_lowered_freely_and_raised_by_name(self, ledger):
        ledger.set_limit(SUBJECT, 10)
        assert ledger.set_limit(SUBJECT, 5).limit == 5
        assert ledger.set_limit(SUBJECT, 5).limit == 5  # the same again is not above
        with pytest.raises(pk.RefusedError, match="The limit of 'patients 2026' is 5; say raising"):
            ledger.set_limit(SUBJECT, 6)
        assert ledger.set_limit(SUBJECT, 6, raising=True).limit == 6
        account = ledger.account(SUBJECT)
        assert [epsilon for _, epsilon in account.limits] == [10, 5, 5, 6]
        assert [limit["epsilon"] for limit in account.to_json()["limits"]] == ["10", "5", "5", "6"]
        days = [date[:10] for date, _ in account.limits]
        assert account.limits_text == ", then ".join(f"{e} ({day})" for e, day in zip((10, 5, 5, 6), days, strict=True))

    def test_a_limit_below_what_is_spent_leaves_nothing(self, ledger):
        release(ledger)
        account = ledger.set_limit(SUBJECT, 1)
        assert (account.left, account.left_text, account.exceeded_text) == (0, "0", "1")
        assert ledger.set_limit(SUBJECT, 2, raising=True).exceeded_text is None
        assert ledger.set_limit(SUBJECT, 1).exceeded_text == "1"
        with pytest.raises(pk.RefusedError):
            ledger.reserve(SUBJECT, PLAN)

    @pytest.mark.parametrize(
        "wrong",
        [
            -1,
            "-1",
            "ten",
            None,
            float("nan"),
            "nan",
            float("inf"),
            "inf",
            "-Infinity",
            pytest.param(10**2000, id="huge"),
        ],
    )
    def test_a_limit_is_a_number(self, ledger, wrong):
        with pytest.raises(pk.TargetError):
            ledger.set_limit(SUBJECT, wrong)
        assert not ledger.path.exists()

    def test_a_limit_is_rounded_down(self, ledger):
        assert ledger.set_limit(SUBJECT, Fraction(1, 3)).limit < Fraction(1, 3)


PASSED = pk.plan(
    pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute("weight", role="pass")]), records=1_000, epsilon=2
)
DRAFTED = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])], drafted=True), records=1_000, epsilon=2)


class Fixed(pk.System):
    """Calls itself private, and is not."""

    def key(self):
        return bytes(32)


class TestReleasesThatClaimNothing:
    @pytest.mark.parametrize(
        ("plan", "randomness"),
        [(PLAN, pk.Seeded(7)), (PLAN, Fixed()), (PASSED, None), (DRAFTED, None)],
        ids=["seeded", "a subclass of System", "passed", "drafted"],
    )
    def test_they_are_unbounded_and_refused_under_a_limit(self, ledger, plan, randomness):
        ledger.reserve(SUBJECT, plan, randomness=randomness)
        account = ledger.account(SUBJECT)
        assert account.entries[0].epsilon == "unbounded"
        assert (account.spent, account.spent_text) == (None, "unbounded")
        assert account.central == (None, 0)
        assert account.to_json()["spent"] == "unbounded"
        ledger.set_limit("others", 1_000, new_subject=True)
        with pytest.raises(pk.RefusedError, match="has no epsilon"):
            ledger.reserve("others", plan, randomness=randomness)
        account = ledger.set_limit(SUBJECT, 1_000)
        assert (account.left, account.exceeded_text) == (0, "unbounded")

    def test_a_seeded_release_is_written_down(self, ledger):
        release(ledger, randomness=pk.Seeded(7))
        (entry,) = ledger.account(SUBJECT).entries
        assert (entry.state, entry.k, entry.central_epsilon) == ("released", None, None)

    def test_unbounded_epsilon(self, ledger):
        matrix = pk.TransitionMatrix([[1, 0], [0.5, 0.5]])
        ledger.reserve(SUBJECT, pk.plan(SEX, records=1_000, matrices={"sex": matrix}))
        assert ledger.account(SUBJECT).spent is None


class TestSubjects:
    @pytest.mark.parametrize("wrong", ["", " ", " patients", "two\nlines", "x" * 201, None])
    def test_a_subject_is_a_line_of_text(self, ledger, wrong):
        with pytest.raises(pk.InputError, match="A subject"):
            ledger.reserve(wrong, PLAN)

    @pytest.mark.parametrize("other", ["Patients 2026", "patients  2026", "patients2026", "\uff50atients 2026"])
    def test_a_subject_that_could_be_mistaken_for_another_is_refused(self, ledger, other):
        ledger.set_limit(SUBJECT, 5)
        with pytest.raises(pk.RefusedError, match="differs from it only in case, spaces or the form of a letter"):
            ledger.reserve(other, PLAN)
        with pytest.raises(pk.RefusedError, match="write it the same way"):
            ledger.set_limit(other, 50)

    def test_a_letter_with_an_accent_is_one_letter(self, ledger):
        ledger.set_limit("caf\u00e9", 5)
        with pytest.raises(pk.RefusedError, match="the form of a letter"):
            ledger.set_limit("cafe\u0301", 50, new_subject=True)

    def test_a_misspelt_subject_does_not_get_around_the_limit(self, ledger):
        ledger.set_limit(SUBJECT, 1)
        before = ledger.path.read_bytes()
        typo = "patient 2026"
        for use in (
            lambda: ledger.reserve(typo, PLAN),
            lambda: ledger.check(typo, PLAN),
            lambda: ledger.set_limit(typo, 50),
        ):
            with pytest.raises(pk.RefusedError) as refused:
                use()
            assert str(refused.value) == (
                f"The ledger {ledger.path} has no subject 'patient 2026'; say new_subject (--new-subject) if these are other "
                "people. Available: patients 2026. Did you mean 'patients 2026'?"
            )
        assert ledger.path.read_bytes() == before

    def test_a_new_subject_is_said_to_be_new_once(self, ledger):
        ledger.set_limit(SUBJECT, 1)
        ledger.check("staff", PLAN, new_subject=True)
        ledger.reserve("staff", PLAN, new_subject=True)
        ledger.reserve("staff", PLAN)
        assert ledger.set_limit("pilots", 5, new_subject=True).limit == 5
        assert list(ledger.accounts()) == [SUBJECT, "staff", "pilots"]


class TestTheFile:
    def test_only_its_owner_can_read_it(self, ledger):
        before = os.umask(0)
        try:
            ledger.set_limit(SUBJECT, 5)
        finally:
            os.umask(before)
        assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600

    def test_nothing_is_left_beside_it(self, ledger):
        release(ledger)
        assert [path.name for path in ledger.path.parent.iterdir()] == ["people.ledger"]

    @pytest.mark.parametrize(
        "change",
        [
            "UPDATE events SET epsilon = '0'",
            "DELETE FROM events",
            "DELETE FROM events WHERE number = 2",
            "REPLACE INTO events (number, kind, subject, date, epsilon) VALUES (1, 'reserved', 's', 'd', '0')",
            "INSERT INTO events (number, kind, subject, date, epsilon) VALUES (0, 'limit', 's', 'd', '9')",
            "INSERT INTO events (number, kind, subject, date, epsilon) VALUES (9, 'limit', 's', 'd', '9')",
            "INSERT INTO events (number, kind, subject, date, entry) VALUES (4, 'abandoned', 'patients 2026', 'd', 2)",  # nothing
            "INSERT INTO events (number, kind, subject, date, entry) VALUES (4, 'abandoned', 'patients 2026', 'd', 1)",  # ended
            "INSERT INTO events (number, kind, subject, date, entry, epsilon) VALUES (4, 'reserved', 's', 'd', 3, '1')",
            "INSERT INTO events (number, kind, subject, date, entry, epsilon) VALUES (4, 'reserved', 's', 'd', 1, '1')",
            "INSERT INTO events (number, kind, subject, date, epsilon) VALUES (4, 'refund', 's', 'd', '-9')",
            "INSERT INTO events (number, kind, subject, date, entry) VALUES (4, 'reserved', 's', 'd', 2)",  # of no epsilon
            "INSERT INTO events (number, kind, subject, date, epsilon) VALUES (4, 'limit', 's', 'd', 'unbounded')",
            *(
                f"INSERT INTO events (number, kind, subject, date, entry, epsilon) VALUES (4, 'reserved', 's', 'd', 2, {wrong})"
                for wrong in ("'-100'", "'nan'", "'1/0'", "'abc'", "''", "'1e9'", "'.5'", "'5.'", "'1.2.3'", "x'31'")
            ),
        ],
    )
    def test_it_is_append_only(self, ledger, change):
        ledger.set_limit(SUBJECT, 5)
        release(ledger)
        before = store.Store(ledger.path).read()
        connection = sqlite3.connect(ledger.path)
        with pytest.raises(sqlite3.IntegrityError), connection:
            connection.execute(change)
        connection.close()
        assert store.Store(ledger.path).read() == before

    @pytest.mark.parametrize(
        "edit",
        [
            *(
                f"INSERT INTO events (number, kind, subject, date, entry, epsilon, plan, records) "
                f"VALUES (4, 'reserved', '{SUBJECT}', 'd', 2, {wrong}, 'p', 1)"
                for wrong in ("'-100'", "'nan'", "'1/0'", "'abc'", "'1e9'", "'٣'", "x'31'")
            ),
            f"INSERT INTO events (number, kind, subject, date, epsilon) VALUES (4, 'limit', '{SUBJECT}', 'd', 'unbounded')",
            "UPDATE events SET delta = '-1' WHERE number = 3",
            "UPDATE events SET rows = 'many' WHERE number = 3",
            "UPDATE events SET subject = 'others' WHERE number = 3",
            "UPDATE events SET entry = 2 WHERE number = 3",
            "UPDATE events SET entry = 2 WHERE entry = 1",
            "UPDATE events SET subject = CAST(x'ff' AS TEXT)",
            "UPDATE events SET date = x'00'",
            "UPDATE events SET kind = 'refund', entry = NULL WHERE number = 3",
            "UPDATE events SET epsilon = NULL WHERE number = 2",
            "DELETE FROM events WHERE number = 2",
        ],
    )
    def test_an_event_that_pkanon_never_writes_is_damage(self, ledger, edit):
        # somebody who may write the file can put what protects it out of the way, and back again
        ledger.set_limit(SUBJECT, 6)
        release(ledger)
        connection = sqlite3.connect(ledger.path)
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        connection.execute("PRAGMA ignore_check_constraints = ON")
        with connection:
            for name, _ in triggers:
                connection.execute(f"DROP TRIGGER {name}")
            connection.execute(edit)
            for _, trigger in triggers:
                connection.execute(trigger)
        connection.close()
        for use in (ledger.accounts, lambda: ledger.reserve(SUBJECT, PLAN), lambda: ledger.check(SUBJECT, PLAN)):
            with pytest.raises(
                pk.InputError, match=r"people\.ledger is damaged or was edited.*; take it from a backup\.$"
            ):
                use()

    @pytest.mark.parametrize(
        "edit",
        [
            "DROP TABLE events",
            "DROP TRIGGER never_removed",
            "DROP INDEX ends",
            "ALTER TABLE events DROP COLUMN software",
            "CREATE TRIGGER more AFTER INSERT ON events BEGIN SELECT 1; END",
        ],
    )
    def test_other_tables_are_damage(self, ledger, edit):
        ledger.set_limit(SUBJECT, 6)
        connection = sqlite3.connect(ledger.path)
        connection.execute(edit)
        connection.close()
        for use in (ledger.accounts, lambda: ledger.reserve(SUBJECT, PLAN)):
            with pytest.raises(pk.InputError, match=r"is damaged or was edited: its tables were changed; take it from"):
                use()

    def test_a_ledger_that_sqlite_tidied_up_is_sound(self, ledger):
        release(ledger)
        connection = sqlite3.connect(ledger.path)
        connection.execute("ANALYZE")
        connection.execute("VACUUM")
        connection.close()
        assert states(ledger) == ["released"]

    def test_it_waits_for_the_disk(self, ledger):
        ledger.set_limit(SUBJECT, 5)
        with store.Store(ledger.path)._open() as connection:
            assert connection.execute("PRAGMA synchronous").fetchone() == (3,)  # EXTRA
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)

    def test_there_must_be_one_to_read(self, ledger):
        with pytest.raises(pk.InputError, match=r"There is no ledger .*people\.ledger; a release"):
            ledger.accounts()
        assert not ledger.path.exists()

    def test_a_file_that_was_emptied_is_damaged(self, ledger):
        ledger.set_limit(SUBJECT, 5)
        ledger.path.write_bytes(b"")
        for use in (ledger.accounts, lambda: ledger.reserve(SUBJECT, PLAN), lambda: ledger.set_limit(SUBJECT, 50)):
            with pytest.raises(pk.InputError, match=r"people\.ledger is damaged: the file is empty.*from a backup\.$"):
                use()
        assert ledger.path.read_bytes() == b""

    def test_a_new_file_is_complete_when_it_gets_its_name(self, ledger, monkeypatch):
        honest, seen = store.os.link, []

        def link(draft, path):
            honest(draft, path)
            seen.append(store.Store(path).read())

        monkeypatch.setattr(store.os, "link", link)
        ledger.set_limit(SUBJECT, 5)
        assert seen == [[]]

    def test_the_file_that_another_run_began_meanwhile_is_kept(self, ledger, monkeypatch):
        honest = store.os.link

        def late(draft, path):
            monkeypatch.setattr(store.os, "link", honest)
            pk.Ledger(path).set_limit(SUBJECT, 1)
            honest(draft, path)

        monkeypatch.setattr(store.os, "link", late)
        with pytest.raises(pk.RefusedError, match="leaves 1"):
            ledger.reserve(SUBJECT, PLAN)
        assert [path.name for path in ledger.path.parent.iterdir()] == ["people.ledger"]

    def test_a_disk_without_links(self, ledger, monkeypatch):
        def refuse(*arguments):
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(store.os, "link", refuse)
        with pytest.raises(pk.EnvironmentFailure, match=r"Cannot begin the ledger .*: Operation not permitted\."):
            ledger.reserve(SUBJECT, PLAN)
        assert list(ledger.path.parent.iterdir()) == []

    def test_its_folder_must_exist(self, tmp_path):
        ledger = pk.Ledger(tmp_path / "no" / "people.ledger")
        for use in (ledger.reserve, ledger.check):
            with pytest.raises(pk.InputError, match="its folder does not exist; create it first"):
                use(SUBJECT, PLAN)

    def test_a_folder_that_cannot_be_written(self, ledger, monkeypatch):
        def refuse(*arguments):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(store.os, "open", refuse)  # who runs as root may write everywhere
        with pytest.raises(pk.EnvironmentFailure, match=r"Cannot begin the ledger .*: Permission denied\."):
            ledger.reserve(SUBJECT, PLAN)

    def test_a_file_that_cannot_be_written(self, ledger, monkeypatch):
        ledger.set_limit(SUBJECT, 5)
        honest = sqlite3.connect

        def read_only(address, **options):
            return honest(address.replace("mode=rw", "mode=ro"), **options)

        monkeypatch.setattr(store.sqlite3, "connect", read_only)
        assert ledger.account(SUBJECT).limit == 5
        with pytest.raises(pk.EnvironmentFailure, match="the file or its folder cannot be written"):
            ledger.reserve(SUBJECT, PLAN)

    def test_others_are_waited_for(self, ledger, monkeypatch):
        ledger.set_limit(SUBJECT, 5)
        monkeypatch.setattr(store, "PATIENCE", 0.05)
        connection = sqlite3.connect(ledger.path, isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(pk.EnvironmentFailure, match="in use by other runs; try again"):
            ledger.reserve(SUBJECT, PLAN)
        assert ledger.account(SUBJECT).limit == 5  # reading goes on
        connection.execute("ROLLBACK")
        connection.close()
        ledger.reserve(SUBJECT, PLAN)

    def test_a_folder_is_no_ledger(self, tmp_path):
        with pytest.raises(pk.InputError, match="is not a ledger; it is not a file"):
            pk.Ledger(tmp_path).reserve(SUBJECT, PLAN)

    def test_a_name_that_is_too_long(self, tmp_path):
        ledger = pk.Ledger(tmp_path / ("x" * 300))
        for use in (ledger.accounts, lambda: ledger.reserve(SUBJECT, PLAN), lambda: ledger.check(SUBJECT, PLAN)):
            with pytest.raises(pk.EnvironmentFailure, match=r"Cannot use the ledger .*: File name too long\."):
                use()

    def test_a_text_is_no_ledger(self, ledger):
        ledger.path.write_text("sex,age\nF,30\n" * 100)
        for use in (ledger.accounts, lambda: ledger.set_limit(SUBJECT, 5)):
            with pytest.raises(pk.InputError, match="is not a ledger, or it is damaged"):
                use()
        assert ledger.path.read_text().startswith("sex,age\n")

    def test_another_database_is_no_ledger(self, ledger):
        connection = sqlite3.connect(ledger.path)
        connection.execute("CREATE TABLE people (name TEXT)")
        connection.close()
        for use in (ledger.accounts, lambda: ledger.set_limit(SUBJECT, 5)):
            with pytest.raises(pk.InputError, match="it is a database of another kind"):
                use()

    def test_a_ledger_of_the_future_is_refused(self, ledger):
        release(ledger)
        connection = sqlite3.connect(ledger.path)
        connection.execute("PRAGMA user_version = 2")
        connection.close()
        for use in (ledger.accounts, lambda: ledger.reserve(SUBJECT, PLAN)):
            with pytest.raises(pk.InputError, match="has version 2; this pkanon knows version 1 only"):
                use()

    def test_a_name_with_marks_of_an_address(self, tmp_path):
        ledger = pk.Ledger(tmp_path / "people?mode=ro#1 %41.ledger")
        ledger.set_limit(SUBJECT, 5)
        assert [path.name for path in tmp_path.iterdir()] == ["people?mode=ro#1 %41.ledger"]
