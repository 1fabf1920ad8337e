"""`cep fmt`: files in their layout, each as a whole or not at all; nothing else of them changes."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest
from cep_command import cep

from cep.cli.main import main

MESSY = '# cards\n\n\npack  cards version\n"1"\nrule a { on\n payment [ n>1 ] # why\n}'
NEAT = '# cards\n\npack cards version "1"\n\nrule a {\n  on payment[n > 1]  # why\n}\n'
BROKEN = 'pack cards version "1"\nrule b { on }\n'


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / f"{name}.rules").write_bytes(text.encode())


def texts(folder: Path) -> dict[str, str]:
    return {file.stem: file.read_bytes().decode() for file in folder.glob("*.rules")}


def test_files_are_rewritten_and_named(tmp_path: Path) -> None:
    write(tmp_path, a=MESSY, b=NEAT, c=MESSY)
    told = cep("fmt", "a.rules", "b.rules", ".", cwd=tmp_path)
    assert (told.code, told.out) == (0, "a.rules\nc.rules\n")
    assert told.err == "2 files changed, 1 file as it was\n"
    assert texts(tmp_path) == dict.fromkeys("abc", NEAT)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.rules", "b.rules", "c.rules"]


def test_a_file_with_the_layout_is_not_written(tmp_path: Path) -> None:
    write(tmp_path, a=NEAT)
    before = (tmp_path / "a.rules").stat()
    assert main(["fmt", str(tmp_path)]) == 0
    after = (tmp_path / "a.rules").stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


def test_check_names_what_would_change_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, a=MESSY, b=NEAT)
    assert main(["fmt", "--check", str(tmp_path)]) == 1
    assert capsys.readouterr().out == f"{tmp_path / 'a.rules'}\n"
    assert texts(tmp_path) == {"a": MESSY, "b": NEAT}
    assert main(["fmt", "--check", str(tmp_path / "b.rules")]) == 0


def test_diff_shows_what_would_change_and_writes_nothing(tmp_path: Path) -> None:
    write(tmp_path, a=MESSY, b=NEAT)
    told = cep("fmt", "--diff", ".", cwd=tmp_path)
    assert told.code == 1
    head, at, *lines = told.out.replace("\n\\ No newline at end of file", "").splitlines(keepends=True)[1:]
    assert (head, at[:3], lines.count("-}\n")) == ("+++ a.rules\n", "@@ ", 1)
    assert "".join(line[1:] for line in lines if line[0] in " -") == MESSY + "\n"
    assert "".join(line[1:] for line in lines if line[0] in " +") == NEAT
    assert "\n-}\n\\ No newline at end of file\n" in told.out
    assert texts(tmp_path) == {"a": MESSY, "b": NEAT}


def test_a_file_with_an_error_stays_and_the_others_go_on(tmp_path: Path) -> None:
    write(tmp_path, a=BROKEN, b=MESSY)
    told = cep("fmt", ".", cwd=tmp_path)
    assert (told.code, told.out) == (1, "b.rules\n")
    assert "error[CEP0101]" in told.err
    assert "a.rules:2:13" in told.err
    assert told.err.endswith("1 file changed, 0 files as they were, 1 file with errors\n")
    assert texts(tmp_path) == {"a": BROKEN, "b": NEAT}


@pytest.mark.slow
def test_a_dash_is_a_pipe() -> None:
    told = cep("fmt", "-", feed=MESSY)
    assert (told.code, told.out, told.err) == (0, NEAT, "")
    refused = cep("fmt", "-", feed=BROKEN)
    assert (refused.code, refused.out) == (1, "")
    assert "<stdin>:2:13" in refused.err
    assert cep("fmt", "-", "--check", feed=NEAT).code == 0
    assert cep("fmt", "-", "--check", feed=MESSY).out == "<stdin>\n"


@pytest.mark.slow
def test_a_pipe_keeps_every_character_whatever_the_locale() -> None:
    text = 'rule ä {\n  summary "Zürich ☃"\n}\n'
    assert cep("fmt", "-", feed=text, env={"LC_ALL": "C", "PYTHONUTF8": "0"}).out == text


def test_a_dash_stands_alone(tmp_path: Path) -> None:
    told = cep("fmt", "-", ".", cwd=tmp_path)
    assert (told.code, told.err) == (
        2,
        "error: `-` stands alone: standard input goes to standard output\n  = help: leave the others out\n",
    )


def test_line_ends_and_a_byte_order_mark_are_mended(tmp_path: Path) -> None:
    write(tmp_path, a="\ufeff" + NEAT.replace("\n", "\r\n"))
    assert main(["fmt", str(tmp_path)]) == 0
    assert texts(tmp_path) == {"a": NEAT}


def test_permissions_and_links_are_kept(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    write(tmp_path / "real", a=MESSY)
    file = tmp_path / "real" / "a.rules"
    file.chmod(0o640)
    (tmp_path / "a.rules").symlink_to(file)
    assert main(["fmt", str(tmp_path / "a.rules")]) == 0
    assert (tmp_path / "a.rules").is_symlink()
    assert file.read_text() == NEAT
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_the_json_form_tells_of_every_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, a=MESSY, b=NEAT, c=BROKEN)
    assert main(["fmt", "--format", "json", "--diff", str(tmp_path)]) == 1
    told = json.loads(capsys.readouterr().out)
    assert [(Path(f["file"]).name, f["changed"], f["errors"]) for f in told["files"]] == [
        ("a.rules", True, False), ("b.rules", False, False), ("c.rules", False, True),
    ]  # fmt: skip
    assert told["files"][0]["diff"].startswith("---")
    assert told["changed"] == 1
    assert [d["code"] for d in told["diagnostics"]] == ["CEP0101"]


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [(b"\xff\xfe\x00p", 1, "CEP0507"), (b"", 0, ""), (b"# only\n\n\n", 0, ""), (b"\x00" * 10, 1, "CEP0237")],
)
def test_no_file_is_a_traceback(content: bytes, code: int, said: str, tmp_path: Path) -> None:
    (tmp_path / "x.rules").write_bytes(content)
    told = cep("fmt", "x.rules", cwd=tmp_path)
    assert told.code == code
    assert said in told.err
    if code:
        assert (tmp_path / "x.rules").read_bytes() == content


def test_nothing_to_lay_out_is_a_failure(tmp_path: Path) -> None:
    assert "CEP0508" in cep("fmt", ".", cwd=tmp_path).err
    assert cep("fmt", "nowhere.rules", cwd=tmp_path).code == 2


@pytest.mark.skipif(sys.platform == "win32", reason="folders have no such permission there")
def test_a_folder_that_cannot_be_written_is_the_outside_world(tmp_path: Path) -> None:
    write(tmp_path, a=MESSY)
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    tmp_path.chmod(0o500)
    try:
        assert cep("fmt", "a.rules", cwd=tmp_path).code == 3
    finally:
        tmp_path.chmod(0o700)
