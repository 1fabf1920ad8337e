"""Files and folders become one pack, with one revision; what cannot be read is said."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cep.packs.read import checked_in
from rules.diagnostics import DiagnosticsError
from rules.packs import Loaded, load, load_texts

HEADER = 'pack p version "1"\n'
STREAM = HEADER + "stream s { i: string  t: timestamp  id i  time t }\n"
RULE = HEADER + "rule r { on s }\n"


def codes(found: Loaded) -> list[str]:
    return [d.code for d in found.diagnostics]


def write(folder: Path, **texts: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.rules").write_text(text, encoding="utf-8")
    return folder


def test_a_folder_is_one_pack(tmp_path: Path) -> None:
    folder = write(tmp_path / "pack", a=STREAM)
    write(folder / "more", b=RULE)
    (folder / "notes.txt").write_text("not a rule", encoding="utf-8")
    pack = load([folder]).need()
    assert [r.name for r in pack.rules] == ["r"]
    assert [Path(name).name for name, _ in pack.files] == ["a.rules", "b.rules"]


def test_files_given_one_by_one_are_one_pack(tmp_path: Path) -> None:
    folder = write(tmp_path, a=STREAM, b=RULE)
    together = load([folder / "b.rules", folder / "a.rules"]).need()
    assert together.revision == load([folder]).need().revision


def test_the_revision_is_that_of_the_content() -> None:
    files = [("a.rules", STREAM), ("b.rules", RULE)]
    revision = load_texts(files).need().revision
    assert len(revision) == 16
    assert int(revision, 16) >= 0
    assert load_texts(files[::-1]).need().revision == revision
    assert load_texts([("a.rules", STREAM), ("b.rules", RULE + " ")]).need().revision != revision
    assert load_texts([("a.rules", STREAM), ("c.rules", RULE)]).need().revision != revision


def test_texts_moved_between_files_are_another_revision() -> None:
    one = load_texts([("a", STREAM), ("b", RULE)]).need()
    assert (
        load_texts([("a", STREAM + RULE.removeprefix(HEADER)), ("b", HEADER)]).need().revision != one.revision
    )


def test_a_worker_comes_to_the_same_pack(tmp_path: Path) -> None:
    there = load([write(tmp_path, a=STREAM, b=RULE)]).need()
    here = load_texts(there.files).need()
    assert here.revision == there.revision
    assert [r.structure for r in here.rules] == [r.structure for r in there.rules]


def test_missing_files_are_said(tmp_path: Path) -> None:
    found = load([tmp_path / "none.rules", write(tmp_path / "x", a=STREAM)])
    assert codes(found) == ["CEP0505", "CEP0503"]
    assert "none.rules" in found.diagnostics[0].message


def test_empty_folders_and_no_files_are_said(tmp_path: Path) -> None:
    assert codes(load([tmp_path])) == ["CEP0508"]
    assert codes(load([])) == ["CEP0508"]
    assert codes(load_texts([])) == ["CEP0508"]


def test_bytes_that_are_no_utf8_are_said(tmp_path: Path) -> None:
    (tmp_path / "a.rules").write_bytes(STREAM.encode() + b"# caf\xe9\n")
    found = load([tmp_path])
    assert codes(found) == ["CEP0507"]
    assert f"byte {len(STREAM) + 5}" in found.diagnostics[0].message


def test_half_characters_are_said() -> None:
    assert codes(load_texts([("a", STREAM + '# "\ud800"')])) == ["CEP0507"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_files_are_said(tmp_path: Path) -> None:
    folder = write(tmp_path, a=STREAM)
    (folder / "a.rules").chmod(0)
    assert codes(load([folder])) == ["CEP0506"]


@pytest.mark.parametrize("locked", ["more", "."])
def test_folders_that_may_not_be_listed_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, locked: str
) -> None:
    tmp_path.chmod(0o755)
    monkeypatch.chdir(tmp_path)  # above it a user who is not root may look nowhere
    write(tmp_path / "pack" / "more", b=STREAM)
    write(tmp_path / "pack", a=STREAM)
    load([Path("pack")])  # imports
    (tmp_path / "pack" / locked).chmod(0)
    root = os.geteuid() == 0  # who reads everything
    try:
        if root:
            os.seteuid(65534)
        found, alone = load([Path("pack")]), checked_in(Path("pack"))
    finally:
        if root:
            os.seteuid(0)
        (tmp_path / "pack" / locked).chmod(0o755)
    assert codes(found) == ["CEP0506"]
    assert found.diagnostics[0].message == f"cannot read `{Path('pack', locked)}`: permission denied"
    assert [one.diagnostics for one in alone] == [found.diagnostics]


def test_paths_that_cannot_be_are_said(tmp_path: Path) -> None:
    assert codes(load([tmp_path / ("x" * 5_000)])) == ["CEP0506"]
    assert codes(load([Path("a\0b")])) == ["CEP0506"]


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.rules").write_bytes(b"\xef\xbb\xbf" + (STREAM + "rule r { on s }").encode())
    assert load([tmp_path]).pack is not None


def test_windows_line_ends_are_white_space() -> None:
    text = (STREAM + "rule r { # why\n on s }\n# the end").replace("\n", "\r\n")
    assert load_texts([("a", text)]).pack is not None


def test_headers_are_compared() -> None:
    other = RULE.replace('"1"', '"2"')
    assert codes(load_texts([("a", STREAM), ("b", other)])) == ["CEP0502"]
    assert codes(load_texts([("a", STREAM), ("b", RULE.removeprefix(HEADER))])) == ["CEP0501"]


def test_names_are_declared_once_over_all_files() -> None:
    found = load_texts([("a", STREAM + "rule r { on s }"), ("b", RULE)])
    assert codes(found) == ["CEP0206"]
    assert found.diagnostics[0].labels[0].span.file.name == "a"


def test_who_needs_a_pack_gets_one_or_the_diagnostics() -> None:
    with pytest.raises(DiagnosticsError, match="CEP0501"):
        load_texts([("a", "rule r { on s }")]).need()
