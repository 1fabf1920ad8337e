"""The command's own promises: exit codes, a sentence for what goes wrong, nothing loaded without need."""

from __future__ import annotations

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
    [["--nonsense"], ["check"], ["check", "x", "--format", "yaml"], ["eval", "p", "--engine", "magic"]],
    ids=" ".join,
)
def test_wrong_arguments_exit_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.parametrize(
    ("raised", "code", "told"),
    [
        (UsageError("no such pack", "look again"), 2, "error: no such pack\n  = help: look again\n"),
        (OutsideError("Java is missing"), 3, "error: Java is missing\n"),
        (
            DiagnosticsError([Diagnostic("CEP0701", "error", "no job file", help="")]),
            2,
            "error[CEP0701]: no job file\n\n",
        ),
        (KeyboardInterrupt(), 130, ""),
        (
            OSError(28, "No space left on device", "out.jsonl"),
            3,
            "error: out.jsonl: no space left on device\n",
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
