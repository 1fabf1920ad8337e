"""A job file on a machine that is not as it says: every path and address, at its line, and nothing made."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cep.config import Job, load_job
from cep.config.against_machine import check_machine, check_packs
from rules.diagnostics import Diagnostic
from rules.packs import load

Found = tuple[str, str, str, str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with what a job file of these tests names: packs, an inbox with a file in it."""
    (tmp_path / "packs").mkdir()
    (tmp_path / "packs" / "cards.rules").write_text('pack cards version "1"\n')
    (tmp_path / "inbox" / "payment").mkdir(parents=True)
    (tmp_path / "inbox" / "payment" / "monday.csv").write_text("a\n")
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "link").symlink_to("inbox")
    (tmp_path / "loop").symlink_to("loop")
    return tmp_path


def job(folder: Path, more: str = "", **values: str) -> Job:
    """The job of a file in the folder; `values` stand in place of what a good one says."""
    said = {"packs": "packs/", "state": "state/", "path": "inbox/payment/*.csv"} | values
    (folder / "job.toml").write_text(
        f'[job]\nname = "a"\npacks = "{said["packs"]}"\nstate = "{said["state"]}"\n'
        f'[feeds.payment]\nsource = "files"\npath = "{said["path"]}"\n{more}'
    )
    return load_job(folder / "job.toml", {"URL": "sqlite:///inbox", **ANN}).need()


def told(found: list[Diagnostic]) -> Found:
    (one,) = found
    return one.code, one.message, one.span.text if one.span else "", one.help


def tree(folder: Path) -> list[tuple[str, float]]:
    return sorted((str(path), path.lstat().st_mtime) for path in folder.rglob("*"))


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"path": "inbox/payment/"},
        {"path": "inbox/payment/monday.csv"},
        {"path": "link/payment/*.csv"},
        {"path": "inbox/*/*.csv"},
        {"path": "*.csv"},
        {"state": "a/b/state"},
        {"packs": "."},
        {"packs": "packs/cards.rules"},
        {"more": '[outbox]\nurl = "sqlite:///state/alerts.db"\n'},
        {"more": '[outbox]\nurl = "sqlite:///alerts.db"\n'},
        {"more": '[http]\nlisten = "localhost:0"\n'},
        {"more": '[feeds.login]\nsource = "files"\npath = "inbox/*.csv"\n'},
    ],
    ids=str,
)
def test_what_is_right_is_not_spoken_of(folder: Path, values: dict[str, str]) -> None:
    described = job(folder, **values)
    before = tree(folder)
    assert check_machine(described, {}) == []
    assert check_packs(described) == []
    assert tree(folder) == before


@pytest.mark.parametrize(
    ("path", "code", "message", "help_"),
    [
        ("inbx/payment/*.csv", "CEP0952", "there is no folder {}/inbx/payment", "did you mean `inbox`?"),
        ("inbox/paymnet/*.csv", "CEP0952", "there is no folder", "did you mean `payment`?"),
        ("elsewhere/*.csv", "CEP0952", "there is no folder", "make it, or correct path"),
        ("/nowhere/at/all/*.csv", "CEP0952", "there is no folder /nowhere/at/all", "make it"),
        ("notes.txt/*.csv", "CEP0726", "{}/notes.txt is no folder", "name the folder"),
        ("loop/*.csv", "CEP0726", "the folder {}/loop cannot be read", "let the job's user read it"),
        ("inbox/payment/mnday.csv", "CEP0953", "there is no file", "did you mean `monday.csv`?"),
        ("inbox/payment/zzz.csv", "CEP0953", "there is no file", "nothing is read until it is there"),
        (r"inbox/(a|b)\\d+\\.csv", "CEP0953", "there is no file", "write `inbox/{a,b}*.csv`"),
        (r"inbox/\\d+/.*\\.csv", "CEP0952", "there is no folder", "write `inbox/*/*.csv`"),
        ("inbox/day.csv", "CEP0726", "{}/inbox/day.csv is a folder", "write `inbox/day.csv/` for all files"),
    ],
)
def test_a_path_of_a_feed(folder: Path, path: str, code: str, message: str, help_: str) -> None:
    (folder / "inbox" / "day.csv").mkdir()
    got = told(check_machine(job(folder, path=path), {}))
    assert (got[0], got[2]) == (code, f'"{path}"')
    assert message.format(folder) in got[1]
    assert help_ in got[3]


def test_a_folder_with_a_wildcard_in_its_name_cannot_be_read_by_feeds(folder: Path) -> None:
    odd = folder / "cards [old]"
    (odd / "inbox").mkdir(parents=True)
    code, message, _, help_ = told(check_machine(job(odd, path="inbox/*.csv"), {}))
    assert (code, help_) == ("CEP0726", "give the folder another name")
    assert "has `[` in its name" in message


@pytest.mark.parametrize(
    ("packs", "message", "help_"),
    [
        ("pakcs/", "there is no file or folder {}/pakcs", "did you mean `packs`?"),
        ("packs/card.rules", "there is no file or folder", "did you mean `cards.rules`?"),
        ("elsewhere/", "there is no file or folder", "name a rule file, or a folder of packs"),
        ("inbox/", "there is no *.rules file in {}/inbox", "name a rule file, or a folder of packs"),
        ("loop", "{}/loop cannot be read", "let the job's user read it"),
    ],
)
def test_packs(folder: Path, packs: str, message: str, help_: str) -> None:
    code, said, span, help_told = told(check_packs(job(folder, packs=packs)))
    assert (code, span) == ("CEP0720", f'"{packs}"')
    assert message.format(folder) in said
    assert help_ in help_told


def test_packs_are_looked_for_where_packs_are_read_and_nowhere_else(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = folder / "inbox" / ".git" / "old"
    hidden.mkdir(parents=True)
    (hidden / "cards.rules").write_text('pack cards version "1"\n')
    (folder / "inbox" / "link").symlink_to(folder / "packs")
    listed: list[str] = []
    real = os.scandir
    monkeypatch.setattr(
        os, "scandir", lambda path: listed.append(os.path.relpath(path, folder)) or real(path)
    )
    found = check_packs(job(folder, packs="inbox/"))
    assert told(found)[1] == f"there is no *.rules file in {folder}/inbox"
    assert sorted(listed) == ["inbox", "inbox/payment"]
    assert [d.code for d in load([folder / "inbox"]).diagnostics] == ["CEP0508"]
    listed.clear()
    for number in range(50):
        (folder / "packs" / f"{number}" / "deep").mkdir(parents=True)
    assert check_packs(job(folder, packs="packs/")) == []
    assert listed == ["packs"], "the first file that is found is enough"


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ("notes.txt", "{}/notes.txt is a file where the state folder needs a folder"),
        ("notes.txt/state", "{}/notes.txt is a file where the state folder needs a folder"),
        ("loop", "is a file where the state folder needs a folder"),
        (".", "job.toml lies in the state folder"),
        ("..", "job.toml lies in the state folder"),
        ("/", "job.toml lies in the state folder"),
        ("packs", "the packs lie in the state folder"),
        ("inbox/payment", "feed `payment` reads the files of the state folder"),
        ("link/payment", "feed `payment` reads the files of the state folder"),
        ("inbox", "feed `payment` reads the files of the state folder"),
    ],
)
def test_a_state_folder_that_cannot_be_there(folder: Path, state: str, message: str) -> None:
    code, said, span, help_ = told(check_machine(job(folder, state=state), {}))
    assert (code, span) == ("CEP0721", f'"{state}"')
    assert message.format(folder) in said
    assert "name a folder" in help_


def test_a_state_folder_that_a_wildcard_reaches(folder: Path) -> None:
    for path in ("*/*.csv", "s?ate/*.csv", "{state,inbox}/*.csv"):
        assert told(check_machine(job(folder, path=path), {}))[0] == "CEP0721"


@pytest.mark.parametrize(
    ("url", "message", "help_"),
    [
        ("sqlite:///data/alerts.db", "there is no folder {}/data", "make it, or correct url"),
        ("sqlite:///inbx/alerts.db", "there is no folder {}/inbx", "did you mean `inbox`?"),
        ("sqlite:///inbox", "{}/inbox is a folder", "name a file in it: inbox/outbox.db"),
        ("sqlite:///notes.txt/alerts.db", "{}/notes.txt is no folder", "correct url"),
        ("sqlite:///inbox/payment/alerts.csv", "feed `payment` reads the outbox", "no feed reads"),
        ("${URL}", "{}/inbox is a folder", "name a file in it"),
    ],
)
def test_an_outbox_that_cannot_be_there(folder: Path, url: str, message: str, help_: str) -> None:
    described = job(folder, f'[outbox]\nurl = "{url}"\n')
    code, said, span, help_told = told(check_machine(described, {"URL": "sqlite:///inbox"}))
    assert (code, span) == ("CEP0723", f'"{url}"')
    assert message.format(folder) in said
    assert help_ in help_told


@pytest.mark.parametrize(
    ("listen", "message"),
    [
        ("192.0.2.1:8090", "`192.0.2.1` is no address of this machine"),  # RFC 5737: nobody's
        ("desk.invalid:8090", "there is no host `desk.invalid`"),  # RFC 2606
        ("[2001:db8::1]:8090", "`2001:db8::1` is no address of this machine"),
    ],
)
def test_an_address_of_another_machine(folder: Path, listen: str, message: str) -> None:
    code, said, span, help_ = told(check_machine(job(folder, f'[http]\nlisten = "{listen}"\n'), {}))
    assert (code, said, span) == ("CEP0724", message, f'"{listen}"')
    assert "0.0.0.0" in help_


TOKEN = '[tokens.ann]\nsecret = "${ANN}"\nscopes = ["read"]\n'
ANN = {"ANN": "0123456789-0123456789"}


@pytest.mark.parametrize("listen", ["0.0.0.0:0", "[::]:0"])
def test_a_port_that_others_reach_needs_a_token(folder: Path, listen: str) -> None:
    (found,) = check_machine(job(folder, f'[http]\nlisten = "{listen}"\n'), {})
    assert (found.code, found.level) == ("CEP0737", "error")
    assert found.message.startswith("whoever reaches every address of this machine reaches the job's port")
    assert found.span is not None
    assert found.span.text == f'"{listen}"'
    assert found.help == "write [tokens.NAME], or listen here alone: `127.0.0.1:0`"


def test_a_port_whose_tokens_can_be_overheard_is_told(folder: Path) -> None:
    (found,) = check_machine(job(folder, f'[http]\nlisten = "0.0.0.0:0"\n{TOKEN}'), ANN)
    assert (found.code, found.level) == ("CEP0727", "warning")
    assert "tokens too, can be read on its way" in found.message
    assert found.help.startswith("give [http] `certificate` and `key`, or write `127.0.0.1:0`")


@pytest.mark.parametrize(
    ("certificate", "key", "said"),
    [
        (None, "x", "there is no file"),
        ("no PEM", "x", "the certificate and its key cannot be used"),
    ],
)
def test_a_certificate_that_cannot_be_used_is_told(
    folder: Path, certificate: str | None, key: str, said: str
) -> None:
    if certificate is not None:
        (folder / "job.pem").write_text(certificate)
    (folder / "job.key").write_text(key)
    more = f'[http]\nlisten = "0.0.0.0:0"\ncertificate = "job.pem"\nkey = "job.key"\n{TOKEN}'
    (found,) = check_machine(job(folder, more), ANN)
    assert (found.code, found.level) == ("CEP0739", "error")
    assert found.message.startswith(said)


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "127.8.9.10:0", "localhost:0", "[::1]:0"])
def test_a_port_of_this_machine_alone_is_not_told(folder: Path, listen: str) -> None:
    assert check_machine(job(folder, f'[http]\nlisten = "{listen}"\n'), {}) == []


def test_a_port_that_is_taken_is_not_a_mistake_of_the_file(folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        assert check_machine(job(folder, f'[http]\nlisten = "{listen}"\n'), {}) == []


@pytest.mark.parametrize("path", ["inbox/payment/*.csv", "inbox/*/monday.csv", "link/payment/*"])
def test_feeds_that_read_the_same_files(folder: Path, path: str) -> None:
    more = f'[feeds.login]\nsource = "files"\npath = "{path}"\n'
    (one,) = check_machine(job(folder, more), {})
    assert (one.code, one.level) == ("CEP0725", "warning")
    assert one.message.startswith("`payment` and `login` read the same files")
    assert one.span is not None
    assert (one.span.line, one.labels[0].span.line) == (10, 7)


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A folder of a user who may not read everything: root may, so that root becomes another user."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)
        if os.geteuid() != 0 and os.getresuid()[2] == 0:
            os.setresuid(0, 0, 0)
        for path in Path(name).rglob("*"):
            if not path.is_symlink():
                path.chmod(0o755)


def _drop() -> None:
    if os.geteuid() == 0:
        os.setresuid(65534, 65534, 0)


@pytest.mark.parametrize(
    ("closed", "mode", "more", "code", "message"),
    [
        ("data", 0o000, '[feeds.b]\nsource = "files"\npath = "data/x/*"\n', "CEP0952", "data cannot be read"),
        ("inbox", 0o000, "", "CEP0726", "the folder {}/inbox cannot be read"),
        (".", 0o555, "", "CEP0721", "the folder {} cannot be written"),
        (
            "data",
            0o555,
            '[outbox]\nurl = "sqlite:///data/a.db"\n',
            "CEP0723",
            "{}/data/a.db cannot be written",
        ),
        (
            "b.csv",
            0o000,
            '[feeds.b]\nsource = "files"\npath = "b.csv"\n',
            "CEP0726",
            "{}/b.csv cannot be read",
        ),
        ("data", 0o555, '[http]\nlisten = "127.0.0.1:1"\n', "CEP0724", "may not listen on port 1"),
    ],
)
def test_what_the_user_may_not(
    unprivileged: Path, closed: str, mode: int, more: str, code: str, message: str
) -> None:
    for name in ("packs", "inbox", "data", "state"):
        (unprivileged / name).mkdir()
    (unprivileged / "b.csv").write_text("")
    described = job(unprivileged, more, path="inbox/*.csv", state="state/" if closed != "." else "new/")
    for path in (unprivileged, unprivileged / "state"):
        path.chmod(0o777)
    (unprivileged / closed).chmod(mode)
    _drop()
    found = check_machine(described, {})
    if code == "CEP0724" and not found:
        pytest.skip("any user of this machine may listen on port 1")
    got = told(found)
    assert got[0] == code
    assert message.format(unprivileged) in got[1]


def test_packs_that_the_user_may_not_read(unprivileged: Path) -> None:
    (unprivileged / "packs").mkdir()
    (unprivileged / "inbox").mkdir()
    described = job(unprivileged, path="inbox/*.csv")
    (unprivileged / "packs").chmod(0o000)
    _drop()
    assert told(check_packs(described))[1] == f"{unprivileged}/packs cannot be read"
