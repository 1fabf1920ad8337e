"""`cep new`: a folder whose job runs as it stands, whole or not at all."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from cep_command import cep

from alerts.signing import secret_key
from cep.cli.main import main
from cep.new_job.writing import SECRET, job_name, write_job

FILES = [".gitignore", "README.md", "desk.secret", "inbox/payments.jsonl", "job.toml", "packs/cards.rules"]


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_the_job_is_checked_tested_and_raises_alerts_as_it_stands(tmp_path: Path) -> None:
    told = cep("new", "desk/fraud", cwd=tmp_path)
    assert (told.code, told.err) == (0, "")
    folder = tmp_path / "desk" / "fraud"
    assert files_in(folder) == FILES
    assert list(folder.parent.iterdir()) == [folder]

    checked = cep("check", "--job", "job.toml", "--strict", cwd=folder)
    assert (checked.code, checked.out) == (0, "3 rules, 0 errors, 0 warnings\n"), checked.err
    assert cep("fmt", "--check", "packs", cwd=folder).code == 0
    tested = cep("test", "packs/", "--coverage", cwd=folder)
    assert tested.code == 0, tested.out
    raised = cep("eval", "--job", "job.toml", "--output", "-", "--drain", cwd=folder)
    alerts = [json.loads(line) for line in raised.out.splitlines()]
    assert [(alert["rule"], alert["kind"]) for alert in alerts] == [
        ("card_testing", "match"),
        ("very_large", "event"),
        ("fast_spending", "window"),
    ]


def test_every_command_that_is_named_is_in_the_readme(tmp_path: Path) -> None:
    told = json.loads(cep("new", "fraud", "--format", "json", cwd=tmp_path).out)
    assert (told["folder"], told["files"]) == ("fraud", FILES)
    readme = (tmp_path / "fraud" / "README.md").read_text("utf-8")
    assert "@NAME@" not in readme
    assert [line for line in told["next"] if line not in readme] == []


def test_secrets_are_new_and_the_users_alone(tmp_path: Path) -> None:
    secrets = []
    for name in ("a", "b"):
        write_job(tmp_path / name)
        secret = tmp_path / name / SECRET
        assert stat.S_IMODE(secret.stat().st_mode) == 0o600
        secrets.append(secret_key(secret.read_text("utf-8")))
    assert secrets[0] != secrets[1]
    assert f"*{Path(SECRET).suffix}" in (tmp_path / "a" / ".gitignore").read_text("utf-8").split()


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("fraud", "fraud"),
        ("Trading desk: München", "Trading-desk-München"),
        ('quote"d', "quote-d"),
        ("...", "job"),
        ("x" * 200, "x" * 100),
    ],
)
def test_a_jobs_name_is_its_folders(tmp_path: Path, folder: str, name: str) -> None:
    assert job_name(tmp_path / folder) == name
    write_job(tmp_path / folder)
    assert main(["check", "--job", str(tmp_path / folder / "job.toml")]) == 0


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    folder = tmp_path / "fraud"
    folder.mkdir()
    assert cep("new", "fraud", cwd=tmp_path).code == 0
    assert files_in(folder) == FILES


def test_what_is_there_stays(tmp_path: Path) -> None:
    folder, file = tmp_path / "fraud", tmp_path / "file"
    folder.mkdir()
    (folder / "mine").write_text("mine")
    file.write_text("mine")
    for name, said in (
        ("fraud", "fraud is not empty"),
        ("file", "file is a file"),
        ("file/x", "file is a file"),
    ):
        told = cep("new", name, cwd=tmp_path)
        assert (told.code, told.out) == (2, "")
        assert f"{said}\n" in told.err
        assert "= help: name a folder that is not there yet" in told.err
    assert (files_in(folder), file.read_text()) == (["mine"], "mine")


def test_a_folder_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, *_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", str(self))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "touch", full)  # the last file
        with pytest.raises(OSError, match="No space left"):
            write_job(tmp_path / "fraud")
    assert list(tmp_path.iterdir()) == []
