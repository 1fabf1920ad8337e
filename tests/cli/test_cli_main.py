"""The command's own promises: exit codes, a sentence for what goes wrong, nothing loaded without need."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest
from cep_command import cep

from cep.cli import main as command
from cep.cli.failure import OutsideError, UsageError
from rules.diagnostics import Diagnostic, DiagnosticsError


def test_version_is_the_installed_one() -> None:
    assert cep("--version").out == f"cep {metadata.version('standing-rules')}\n"


def test_no_verb_prints_the_help_and_is_wrong_usage() -> None:
    told = cep()
    assert (told.code, told.out) == (2, "")
    for verb in command.VERBS:
        assert verb in told.err


def test_help_of_every_verb_names_its_options() -> None:
    assert cep("--help").code == 0
    for verb in ("check", "test", "eval", "receive"):
        told = cep(verb, "--help")
        assert told.code == 0
        assert "--format" in told.out


@pytest.mark.parametrize(
    ("typed", "meant"), [("chek", "check"), ("evaluate", "eval"), ("recieve", "receive")]
)
def test_an_unknown_verb_is_told_what_was_meant(
    typed: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main([typed, "x"]) == 2
    assert f"did you mean `cep {meant}`?" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [["--nonsense"], ["fmt"], ["check", "x", "--format", "yaml"], ["eval", "p", "--engine", "magic"]],
    ids=" ".join,
)
def test_wrong_arguments_exit_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.parametrize(
    ("arguments", "told", "help_"),
    [
        (["check", "x", "--stirct"], "`cep check` knows no `--stirct`", "did you mean `--strict`?"),
        (["check", "x", "-v", "-q"], "`cep check` knows no `-v`, `-q`", "see `cep check --help`"),
        (["test", "x", "--coverage-mn=5"], "`cep test` knows no `--", "did you mean `--coverage-min`?"),
        (["eval", "p", "e.csv"], "`cep eval` knows no `e.csv`", "--events STREAM=e.csv"),
        (["run", "job.toml", "packs"], "`cep run` knows no `packs`", "see `cep run --help`"),
        (["--nonsense"], "`cep` knows no `--nonsense`", "see `cep --help`"),
    ],
)
def test_words_that_a_verb_does_not_know_are_told_with_what_was_meant(
    arguments: list[str], told: str, help_: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        command.main(arguments)
    message, fix = capsys.readouterr().err.splitlines()
    assert message.startswith(f"error: {told}")
    assert help_ in fix


@pytest.mark.parametrize(
    ("raised", "code", "told"),
    [
        (UsageError("no such pack", "look again"), 2, "error: no such pack\n  = help: look again\n"),
        (OutsideError("Java is missing", "install it"), 3, "error: Java is missing\n  = help: install it\n"),
        (
            DiagnosticsError([Diagnostic("CEP0701", "error", "no job file", help="")]),
            2,
            "error[CEP0701]: no job file\n\n",
        ),
        (KeyboardInterrupt(), 130, ""),
        (
            OSError(28, "No space left on device", "out.jsonl"),
            3,
            (
                "error: out.jsonl: no space left on device\n"
                "  = help: make room on that disk, or name a place on another one\n"
            ),
        ),
    ],
    ids=["usage", "outside", "diagnostics", "interrupt", "disk"],
)
def test_what_ends_a_verb_is_an_exit_code_and_a_sentence(
    raised: BaseException,
    code: int,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _verb_that_raises(raised, monkeypatch)
    assert command.main(["check", "x"]) == code
    assert capsys.readouterr().err == told


PACK = """pack cards version "1"
stream payment { pid: string  at_: timestamp  card: string  amount: double  id pid  time at_ }
rule big { on payment[amount > 100] emit card }
rule busy { by card  over payment sliding 5 minutes  having count() > 4 }
"""
PERCOLATE = "percolate --documents none.jsonl --output - --queries"
WRONG = {
    "check none.rules": "correct the path",
    "fmt none.rules": "correct the path",
    "fmt - cards.rules": "leave the others out",
    "explain CEP02077 ": "did you mean `CEP0207`: values of different types are compared?",
    "explain bigg": "did you mean `big`?",
    "explain big --graph dot": "leave --graph out to read how it runs",
    "explain busy --graph dot": "leave --graph out to read how it runs",
    "test cards.rules --run a(b": "where letters are meant as they stand: --run 'a\\(b'",
    "eval --cases .": "name a file in that folder",
    "eval --cases none.jsonl": "correct the path",
    "eval --cases empty.jsonl": 'a case is a line such as {"id": ',
    "percolate --cases .": "name a file in it",
    "percolate --cases cards.gz": "its content is not what the end of its name says: .parquet, .gz",
    "percolate --cases empty.jsonl": 'a case is a line such as {"id": ',
    f"{PERCOLATE} empty.jsonl --field body=texts": "did you mean `text`?",
    f"{PERCOLATE} none.jsonl --field body=text": "correct the path",
    "percolate --queries query.jsonl --documents cards.parquet --output - --field body=text":
        "its content is not what the end of its name says",
    "percolate --queries query.jsonl --documents empty.jsonl --output - --field body=text":
        "name another file, or look at this one",
    "receive --secret hunter2": "a new one is whsec_ and `openssl rand -base64 32`",
    "receive --secret whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw --listen here": "write it as 127.0.0.1:8091",
    "run none.toml": "",
}  # fmt: skip


@pytest.mark.parametrize("line", WRONG)
def test_every_failure_says_what_helps(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("cards.rules", "cards.gz", "cards.parquet"):
        (tmp_path / name).write_text(PACK)
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "query.jsonl").write_text('{"id": "q", "version": 1, "query": "fire"}\n')
    monkeypatch.chdir(tmp_path)
    assert command.main(line.split()) > 0
    told = capsys.readouterr()
    (help_,) = re.findall(r"^  = help: (.+)$", told.err or told.out, re.MULTILINE)
    assert WRONG[line] in help_


def test_no_failure_is_written_without_what_helps() -> None:
    """Types ask for a help; here none is an empty text."""
    raised = ("UsageError", "OutsideError", "error_text", "_say_error")
    empty = [
        f"{file.name}:{node.lineno}"
        for file in Path(command.__file__).parent.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in raised
        for given in node.args[1:]
        if isinstance(given, ast.Constant) and not given.value
    ]
    assert empty == []


def test_the_unforeseen_is_one_sentence_and_a_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    _verb_that_raises(KeyError("bit 7"), monkeypatch)
    assert command.main(["check", "x"]) == 3
    told = capsys.readouterr().err
    (report,) = tmp_path.iterdir()
    assert (
        told
        == f"error: this should not have happened: KeyError: 'bit 7'\n  = help: a report is in {report}\n"
    )
    assert "Traceback" in report.read_text()


def _verb_that_raises(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    from cep.cli import check

    def run(_: object) -> int:
        raise error

    verb = SimpleNamespace(register=check.register, run=run)
    monkeypatch.setattr("importlib.import_module", lambda _: verb)


def test_a_reader_that_goes_away_is_no_traceback() -> None:
    running = subprocess.Popen(
        [sys.executable, "-m", "cep.cli.main", "--version"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert running.stdout is not None
    running.stdout.close()
    _, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (141, b"")


@pytest.mark.parametrize("verb", ["check", "test", "eval", "receive", "run", "deploy"])
def test_the_help_of_a_verb_loads_nothing_heavy(verb: str) -> None:
    program = (
        "import sys\n"
        "from cep.cli.main import main\n"
        f"try: main(['{verb}', '--help'])\n"
        "except SystemExit: pass\n"
        "print(*sorted({m.partition('.')[0] for m in sys.modules}), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    heavy = {
        "pyarrow",
        "numpy",
        "pyspark",
        "numba",
        "sqlalchemy",
        "httpx",
        "uvicorn",
        "pydantic",
        "pyparsing",
    }
    assert not heavy & set(done.stderr.split())
