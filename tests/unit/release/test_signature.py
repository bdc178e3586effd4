"""Signed folders: the right key is recognised, every change is noticed, and no wrong file passes for a key."""

import shutil

import polars as pl
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from keys import write_keys

import pkanon as pk
from pkanon._release import is_signed, is_signed_by, needs_password, read_private_key, read_public_key

PLAN = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=200, k=3)
FRAME = pl.DataFrame({"sex": ["F", "M"] * 100})


@pytest.fixture(scope="module")
def release():
    return pk.release(FRAME, PLAN)


@pytest.mark.parametrize("ssh", [False, True])
def test_a_folder_signed_when_it_is_written(release, tmp_path, ssh):
    private, public = write_keys(tmp_path, ssh=ssh)
    _, other = write_keys(tmp_path, name="other", ssh=ssh)
    release.save(tmp_path / "out", sign=private)
    assert (tmp_path / "out" / "datapackage.json.sig").stat().st_size == 64
    assert is_signed_by(tmp_path / "out", read_public_key(public))
    assert not is_signed_by(tmp_path / "out", read_public_key(other))
    pk.open_release(tmp_path / "out")  # a signature is no obstacle


def test_a_folder_signed_later(release, tmp_path):
    private, public = write_keys(tmp_path)
    release.save(tmp_path / "out")
    assert not is_signed(tmp_path / "out")
    assert not is_signed_by(tmp_path / "out", read_public_key(public))
    pk.sign(tmp_path / "out", private)
    assert is_signed_by(tmp_path / "out", read_public_key(public))
    with pytest.raises(pk.InputError, match="signed already"):
        pk.sign(tmp_path / "out", private)


def test_any_other_byte_is_noticed(release, tmp_path):
    private, public = write_keys(tmp_path)
    release.save(tmp_path / "out", sign=private)
    for name in ("datapackage.json", "datapackage.json.sig"):
        shutil.copytree(tmp_path / "out", tmp_path / name)
        content = bytearray((tmp_path / name / name).read_bytes())
        content[10] ^= 1
        (tmp_path / name / name).write_bytes(content)
        assert not is_signed_by(tmp_path / name, read_public_key(public))


def test_a_damaged_release_is_not_signed(release, tmp_path):
    private, _ = write_keys(tmp_path)
    release.save(tmp_path / "out")
    (tmp_path / "out" / "plan.json").write_text("{}")
    with pytest.raises(pk.PkanonError):
        pk.sign(tmp_path / "out", private)
    assert not is_signed(tmp_path / "out")
    with pytest.raises(pk.InputError, match="folder"):
        pk.sign(tmp_path / "out" / "data.parquet", private)


def test_an_encrypted_key_wants_its_password(release, tmp_path):
    private, public = write_keys(tmp_path, password=b"secret")
    assert needs_password(private)
    with pytest.raises(pk.InputError, match="password is needed"):
        release.save(tmp_path / "out", sign=private)
    with pytest.raises(pk.InputError, match="does not open"):
        release.save(tmp_path / "out", sign=private, password=b"wrong")
    assert not (tmp_path / "out").exists()
    release.save(tmp_path / "out", sign=private, password=b"secret")
    assert is_signed_by(tmp_path / "out", read_public_key(public))
    plain, _ = write_keys(tmp_path, name="plain")
    assert not needs_password(plain)
    with pytest.raises(pk.InputError, match=r"not encrypted|does not open"):
        read_private_key(plain, b"secret")


def test_what_is_no_key_is_refused(tmp_path):
    private, public = write_keys(tmp_path)
    key = rsa.generate_private_key(65537, 2048)
    (tmp_path / "rsa.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    (tmp_path / "rsa.pub").write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    (tmp_path / "text").write_text("hello")
    for reader, name, words in [
        (read_private_key, "rsa.pem", "Ed25519"), (read_private_key, "text", "not a private key"),
        (read_private_key, "absent", "Cannot read"), (read_private_key, public.name, "not a private key"),
        (read_public_key, "rsa.pub", "Ed25519"), (read_public_key, "text", "not a public key"),
        (read_public_key, "absent", "Cannot read"), (read_public_key, private.name, "is a private key"),
    ]:  # fmt: skip
        with pytest.raises(pk.InputError, match=words):
            reader(tmp_path / name)
