"""A file is complete or absent, and never overwritten."""

import os

import pytest

import pkanon as pk
from pkanon._files import check_free, write_new


def test_texts_and_bytes(tmp_path):
    write_new(tmp_path / "a.txt", "größe\n")
    write_new(str(tmp_path / "b.bin"), b"\0\xff")
    assert (tmp_path / "a.txt").read_bytes() == "größe\n".encode()
    assert (tmp_path / "b.bin").read_bytes() == b"\0\xff"
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "b.bin"]


@pytest.mark.parametrize("refuse", [check_free, lambda path: write_new(path, "new")], ids=["check", "write"])
def test_nothing_is_overwritten(refuse, tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "absent")
    for name in ("file", "folder", "link"):
        with pytest.raises(pk.InputError, match=f"{name} exists already and is never overwritten"):
            refuse(tmp_path / name)
    for name in ("absent/a", "file/a"):
        with pytest.raises(pk.InputError, match="its folder does not exist; create it first"):
            refuse(tmp_path / name)
    assert (tmp_path / "file").read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == ["file", "folder", "link"]


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    """The name appears with the last byte: whatever happens before, there is no file."""

    def interrupted(source, target):
        assert source.read_bytes() == b"content"
        assert not target.exists()
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "link", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_new(tmp_path / "a", "content")
    assert os.listdir(tmp_path) == []


def test_a_full_disk_is_the_environments_failure(tmp_path, monkeypatch):
    def full(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "link", full)
    monkeypatch.setattr(os, "rename", full)
    with pytest.raises(pk.EnvironmentFailure, match=r"Cannot write .*a: No space left on device\."):
        write_new(tmp_path / "a", "content")
    assert os.listdir(tmp_path) == []


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path, monkeypatch):
    link = os.link

    def appears(source, target):
        target.write_text("mine")
        return link(source, target)

    monkeypatch.setattr(os, "link", appears)
    with pytest.raises(pk.InputError, match="exists already"):
        write_new(tmp_path / "a", "content")
    assert (tmp_path / "a").read_text() == "mine"
    assert os.listdir(tmp_path) == ["a"]


def test_a_file_system_without_links(tmp_path, monkeypatch):
    def refused(source, target):
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    write_new(tmp_path / "a", "content")
    assert (tmp_path / "a").read_text() == "content"
    assert os.listdir(tmp_path) == ["a"]


def test_a_folder_that_cannot_be_written(tmp_path):
    with pytest.raises(pk.EnvironmentFailure, match=r"Cannot write /proc/a"):
        write_new("/proc/a", "content")
