"""pkanon sign, and release --sign."""

import pytest
from keys import write_keys

from pkanon._release import is_signed_by, read_public_key


def test_a_release_is_signed_as_it_is_made(place):
    _, public = write_keys(place.folder)
    code, out, err = place.release("--sign", "key.pem")
    assert code == 0, err
    assert "Released" in out
    assert is_signed_by(place.folder / "out", read_public_key(public))


def test_a_release_is_signed_later(place):
    _, public = write_keys(place.folder)
    assert place.release()[0] == 0
    code, out, _ = place.run("sign", "out", "--key", "key.pem")
    assert code == 0
    assert "pkanon verify out" in out
    assert is_signed_by(place.folder / "out", read_public_key(public))
    code, out, err = place.run("sign", "out", "--key", "key.pem")
    assert (code, out) == (2, "")
    assert "signed already" in err


def test_the_password_comes_from_the_environment(place, monkeypatch):
    _, public = write_keys(place.folder, password=b"secret")
    code, _, err = place.release("--sign", "key.pem")
    assert code == 2
    assert "PKANON_KEY_PASSWORD" in err
    monkeypatch.setenv("PKANON_KEY_PASSWORD", "wrong")
    code, _, err = place.release("--sign", "key.pem")
    assert code == 2
    assert "wrong" not in err
    assert not (place.folder / "out").exists()
    monkeypatch.setenv("PKANON_KEY_PASSWORD", "secret")
    assert place.release("--sign", "key.pem")[0] == 0
    assert is_signed_by(place.folder / "out", read_public_key(public))


@pytest.mark.parametrize("key", ["absent.pem", "people.csv", "key.pub.pem"])
def test_a_wrong_key_is_refused_before_anything_is_done(place, key):
    write_keys(place.folder)
    (place.folder / "people.csv").write_text("not,a,table\n")
    code, out, err = place.release("--sign", key)
    assert (code, out) == (2, "")
    assert key in err
    assert not (place.folder / "out").exists()
