"""`cep check`: everything that is wrong, at once, with a count and an exit code that scripts can use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cep_command import cep

from cep.cli.main import main

GOOD = """pack cards version "1"
stream payment { pid: string  at_: timestamp  card: string  amount: double  id pid  time at_ }
rule big { on payment[amount > 100] emit card }
"""
BAD = GOOD + 'rule odd { on payment[amont > "x"] emit card }\n'
NOT_YET = GOOD.replace("emit card", "emit card into seen") + 'rule again { on seen[card == "c"] emit card }\n'
WARNS = GOOD.replace("id pid  ", "")

GOLDEN = """\
error[CEP0202]: stream `payment` has no field `amont`
 --> cards.rules:4:23
  |
4 | rule odd { on payment[amont > "x"] emit card }
  |                       ^^^^^
  = help: did you mean `amount`?

2 rules, 1 error, 0 warnings
"""


def pack(folder: Path, text: str, name: str = "cards.rules") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_a_good_pack_is_one_line(tmp_path: Path) -> None:
    pack(tmp_path, GOOD)
    told = cep("check", "cards.rules", cwd=tmp_path)
    assert (told.code, told.out, told.err) == (0, "1 rule, 0 errors, 0 warnings\n", "")


def test_an_error_shows_its_place_and_its_fix(tmp_path: Path) -> None:
    pack(tmp_path, BAD)
    told = cep("check", "cards.rules", cwd=tmp_path)
    assert (told.code, told.out) == (1, GOLDEN)


def test_what_cannot_run_yet_is_a_hint_for_check_and_an_error_for_what_runs_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(pack(tmp_path, NOT_YET))
    assert main(["check", file]) == 0
    assert "hint[CEP09" in capsys.readouterr().out
    assert main(["test", file]) == 1
    assert "error[CEP09" in capsys.readouterr().err


def test_what_cannot_run_yet_fails_a_strict_check_with_the_words_of_cep_test(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(pack(tmp_path, NOT_YET))
    assert main(["check", "--strict", file]) == 1
    *drawn, _, last = capsys.readouterr().out.splitlines()
    assert last == "2 rules, 1 error, 0 warnings"
    assert main(["test", file]) == 1
    assert capsys.readouterr().err.splitlines()[: len(drawn)] == drawn


def test_warnings_fail_only_when_strict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(pack(tmp_path, WARNS))
    assert main(["check", file]) == 0
    assert capsys.readouterr().out.endswith("1 rule, 0 errors, 1 warning\n")
    assert main(["check", "--strict", file]) == 1


def test_the_json_form_has_every_finding_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(pack(tmp_path, BAD))
    assert main(["check", "--format", "json", file]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["rules"], told["errors"], told["warnings"]) == (2, 1, 0)
    (finding,) = told["diagnostics"]
    assert {n: finding[n] for n in ("code", "level", "file", "line", "column", "end_line", "end_column")} == {
        "code": "CEP0202", "level": "error", "file": file, "line": 4, "column": 23, "end_line": 4,
        "end_column": 28,
    }  # fmt: skip


def test_colours_are_for_terminals_only(tmp_path: Path) -> None:
    pack(tmp_path, BAD)
    assert "\x1b" not in cep("check", "cards.rules", cwd=tmp_path).out


def test_a_path_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    told = cep("check", "nowhere.rules", cwd=tmp_path)
    said = "error: there is no file or folder `nowhere.rules`\n  = help: correct the path\n"
    assert (told.code, told.err) == (2, said)


def test_nothing_to_check_is_a_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tmp_path)]) == 1
    assert "CEP0508" in capsys.readouterr().out


def test_a_folder_of_several_packs_is_taken_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pack(tmp_path, GOOD, "a/streams.rules")
    pack(tmp_path, 'pack cards version "1" rule more { severity low  on payment emit card }', "a/rules.rules")
    pack(tmp_path, "# another revision\n" + GOOD.replace('"1"', '"2"'), "b/cards.rules")
    pack(tmp_path, GOOD.replace("pack cards", "pack other"), "b/other.rules")
    assert main(["check", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "4 rules, 0 errors, 0 warnings\n"


def test_files_of_one_folder_with_different_versions_are_one_wrong_pack(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pack(tmp_path, GOOD, "a.rules")
    pack(tmp_path, 'pack cards version "2" rule more { on payment emit card }', "b.rules")
    assert main(["check", str(tmp_path)]) == 1
    assert "CEP0502" in capsys.readouterr().out


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\x00p", b"", b"\x00" * 100, b'pack p version "1" rule r { on s[' + b"(" * 5000]
)
def test_no_file_is_a_traceback(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.rules").write_bytes(content)
    told = cep("check", "x.rules", cwd=tmp_path)
    assert told.code == 1
    assert "error[CEP" in told.out


def test_check_needs_neither_arrays_nor_arrow_nor_spark(tmp_path: Path) -> None:
    import subprocess
    import sys

    program = (
        "import sys\nfrom cep.cli.main import main\n"
        f"main(['check', {str(pack(tmp_path, GOOD))!r}])\n"
        "heavy = {'numpy', 'pyarrow', 'pyspark', 'pandas', 'numba'}\n"
        "print(*{m.partition('.')[0] for m in sys.modules} & heavy)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "1 rule, 0 errors, 0 warnings\n\n"


def test_files_of_one_pack_stay_together_whatever_their_comments_begin_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head, rest = GOOD.split("\n", 1)
    pack(tmp_path, f"// streams\n{head}\n{rest}", "a.rules")
    pack(tmp_path, f"-- rules\n{head}\nrule small {{ on payment[amount < 1] emit card }}\n", "b.rules")
    assert main(["check", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert [line[:15] for line in out.splitlines() if "CEP" in line] == ["error[CEP0114]:"] * 2
