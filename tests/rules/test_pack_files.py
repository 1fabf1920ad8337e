"""A pack makes us read regular files of its own folder, and nothing else of the machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cep.packs.read import checked_in
from rules.pack_files import RefusedError, opened
from rules.packs import load
from rules.render import render_all

PACK = (
    'pack p version "1"\nstream a { url: string body: text t: timestamp id url time t }\n'
    'queries w { from "FILE" }\nrule r { on a matching w emit url, query }\n'
)
SECRET = "AWS_SECRET=hunter2"


def reported(folder: Path, file: str, name: str = "p.rules") -> tuple[str, str]:
    """The one error of a pack that names the file, as code and message."""
    rules = folder / name
    rules.parent.mkdir(parents=True, exist_ok=True)
    rules.write_text(PACK.replace("FILE", file), encoding="utf-8")
    (error,) = [d for d in load([folder]).diagnostics if d.level == "error"]
    assert "hunter2" not in f"{error.message} {error.help}"
    return error.code, error.message


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    file = tmp_path / "secret"
    file.write_text(SECRET, encoding="utf-8")
    return file


def test_files_outside_are_refused_however_they_are_named(tmp_path: Path, secret: Path) -> None:
    folder = tmp_path / "pack"
    folder.mkdir()
    (folder / "link").symlink_to(secret)
    (folder / "far").symlink_to(folder / "link")
    (folder / "up").symlink_to(tmp_path)
    for file in ("../secret", str(secret), "link", "far", "up/secret", "/proc/self/environ"):
        code, message = reported(folder, file)
        assert (code, "is not inside the pack's folder" in message) == ("CEP0509", True), file


def test_devices_pipes_and_folders_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert reported(tmp_path, "pipe") == ("CEP0509", f"`{tmp_path}/pipe` is no regular file")
    (tmp_path / "folder").mkdir()
    assert reported(tmp_path, "folder") == ("CEP0506", f"cannot read `{tmp_path}/folder`: is a directory")
    with pytest.raises(RefusedError, match="no regular file"):
        opened(Path("/dev/zero"), Path("/dev"), 100)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * 101)
    with pytest.raises(RefusedError, match="has 101 bytes, at most 100 are read"):
        opened(tmp_path / "large", tmp_path, 100)
    with opened(tmp_path / "large", tmp_path, 101) as file:
        assert len(file.read()) == 101


def test_files_below_the_folder_may_be_named_from_anywhere_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "pack"
    rules, header = folder / "more" / "p.rules", 'pack p version "1"\n'
    rules.parent.mkdir(parents=True)
    (folder / "header.rules").write_text(header, encoding="utf-8")
    (folder / "real.jsonl").write_text('{"id": "q", "query": "x"}\n', encoding="utf-8")
    (folder / "w.jsonl").symlink_to("real.jsonl")
    rules.write_text(PACK.replace("FILE", "../w.jsonl"), encoding="utf-8")
    assert load([folder]).need().queries[0].content
    (tmp_path / "elsewhere").symlink_to(folder)
    assert load([tmp_path / "elsewhere"]).need().queries[0].content


def test_rule_files_of_a_folder_lie_in_it(tmp_path: Path, secret: Path) -> None:
    folder = tmp_path / "pack"
    folder.mkdir()
    (folder / "a.rules").symlink_to(secret)
    os.mkfifo(folder / "b.rules")
    (found,) = load([folder]).diagnostics
    assert (found.code, "a.rules` is not inside" in found.message) == ("CEP0509", True)
    (named,) = [d.code for d in load([folder / "a.rules"]).diagnostics][:1]
    assert named != "CEP0509"  # whoever names the file himself may read it


def test_files_of_a_folder_with_several_packs_lie_in_it_too(tmp_path: Path, secret: Path) -> None:
    folder = tmp_path / "packs"
    folder.mkdir()
    (folder / "b.rules").symlink_to(secret)
    for name in ("p", "q"):
        text = f'pack {name} version "1"\nstream a {{ url: string  t: timestamp  id url  time t }}\n'
        (folder / f"{name}.rules").write_text(f"{text}rule r {{ on a emit url }}\n", encoding="utf-8")
    found = [d for one in checked_in(folder) for d in one.diagnostics if d.level == "error"]
    (refused,) = found
    assert (refused.code, "b.rules` is not inside" in refused.message) == ("CEP0509", True)
    assert "hunter2" not in render_all(found)
