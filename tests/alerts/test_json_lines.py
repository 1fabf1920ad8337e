"""Alerts in a file: none lost, none torn, and a new file when the day or the room is over."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from some_alerts import SECOND, raised

from alerts.receivers.json_lines import FileReceiver
from alerts.receivers.receiver import Outcome

DAY = 86_400 * SECOND
NOW = 20_000 * DAY + 5 * SECOND
"""2024-10-04."""


def send(receiver: FileReceiver, *numbers: int, now: int = NOW) -> list[Outcome]:
    alerts = [raised(n).alert for n in numbers]
    return [receiver.send(one.id, one.to_json(), now) for one in alerts]


def lines(path: Path) -> list[int]:
    return [json.loads(line)["emit"]["n"] for line in path.read_text().splitlines()]


def set_day(path: Path, now: int) -> None:
    os.utime(path, ns=(now, now))


@pytest.mark.parametrize(("durable", "detail"), [(True, "written to disk"), (False, "written")])
def test_every_alert_is_a_line(tmp_path: Path, durable: bool, detail: str) -> None:
    receiver = FileReceiver("desk", tmp_path / "alerts.jsonl", durable=durable)
    assert send(receiver, 1, 2, 3) == [Outcome("delivered", detail)] * 3
    receiver.close()
    assert (tmp_path / "alerts.jsonl").read_text() == "".join(
        raised(n).alert.to_json() + "\n" for n in (1, 2, 3)
    )
    assert (tmp_path / "alerts.jsonl").stat().st_mode & 0o777 == 0o640


def test_what_is_durable_is_synced_before_it_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    fast = FileReceiver("fast", tmp_path / "fast.jsonl", durable=False)
    send(fast, 1, 2)
    assert synced == []
    safe = FileReceiver("safe", tmp_path / "safe.jsonl")
    send(safe, 1)
    assert len(synced) == 2, "the file, and the folder that has its name"
    send(safe, 2)
    assert len(synced) == 3
    for one in (fast, safe):
        one.close()


def test_a_file_that_would_be_too_long_is_put_aside(tmp_path: Path) -> None:
    length = len(raised(1).alert.to_json()) + 1
    path = tmp_path / "alerts.jsonl"
    receiver = FileReceiver("desk", path, longest=2 * length, durable=False)
    send(receiver, *range(1, 6))
    set_day(path, NOW)
    assert lines(tmp_path / "alerts.2024-10-04.1.jsonl") == [1, 2]
    assert lines(tmp_path / "alerts.2024-10-04.2.jsonl") == [3, 4]
    assert lines(path) == [5]
    receiver.close()


def test_an_alert_longer_than_a_file_has_one_of_its_own(tmp_path: Path) -> None:
    receiver = FileReceiver("desk", tmp_path / "alerts.jsonl", longest=10, durable=False)
    assert {one.result for one in send(receiver, 1, 2, 3)} == {"delivered"}
    assert lines(tmp_path / "alerts.jsonl") == [3]
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("restarts", [False, True])
def test_every_day_has_a_file(tmp_path: Path, restarts: bool) -> None:
    path = tmp_path / "alerts.jsonl"
    receiver = FileReceiver("desk", path, durable=False)
    send(receiver, 1, 2)
    if restarts:
        receiver.close()
        set_day(path, NOW)
        receiver = FileReceiver("desk", path, durable=False)
    send(receiver, 3, now=NOW + DAY - 6 * SECOND)
    send(receiver, 4, now=NOW + DAY)
    send(receiver, 5, now=NOW + 3 * DAY)
    receiver.close()
    assert lines(tmp_path / "alerts.2024-10-04.1.jsonl") == [1, 2, 3]
    assert lines(tmp_path / "alerts.2024-10-05.1.jsonl") == [4]
    assert lines(path) == [5]


def test_nothing_that_is_there_is_overwritten(tmp_path: Path) -> None:
    path, aside = tmp_path / "alerts.jsonl", tmp_path / "alerts.2024-10-04.1.jsonl"
    aside.write_text("mine")
    receiver = FileReceiver("desk", path, longest=10, durable=False)
    send(receiver, 1, 2)
    assert aside.read_text() == "mine"
    assert lines(tmp_path / "alerts.2024-10-04.2.jsonl") == [1]


def test_a_line_that_a_crash_tore_spoils_none_behind_it(tmp_path: Path) -> None:
    path = tmp_path / "alerts.jsonl"
    path.write_text('{"id": "to')
    set_day(path, NOW)
    receiver = FileReceiver("desk", path, durable=False)
    send(receiver, 1)
    assert path.read_text() == '{"id": "to\n' + raised(1).alert.to_json() + "\n"


def test_a_file_that_was_moved_or_removed_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "alerts.jsonl"
    receiver = FileReceiver("desk", path, durable=False)
    send(receiver, 1)
    path.rename(tmp_path / "taken")
    send(receiver, 2)
    path.unlink()
    send(receiver, 3)
    assert (lines(tmp_path / "taken"), lines(path)) == ([1], [3])


def test_a_full_disk_leaves_no_part_of_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "alerts.jsonl"
    receiver = FileReceiver("desk", path, durable=False)
    send(receiver, 1)
    write = os.write
    written: list[int] = []

    def some(file: int, data: bytes) -> int:
        if written:
            raise OSError(28, "No space left on device")
        written.append(1)
        return write(file, data[:20])

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", some)
        (outcome,) = send(receiver, 2)
    assert outcome == Outcome("unreachable", f"cannot write {path}: No space left on device")
    set_day(path, NOW)
    send(receiver, 2)
    assert lines(path) == [1, 2]


def test_a_folder_that_is_missing_is_told(tmp_path: Path) -> None:
    receiver = FileReceiver("desk", tmp_path / "gone" / "alerts.jsonl")
    assert send(receiver, 1)[0].detail.endswith("No such file or directory")
    (tmp_path / "gone").mkdir()
    assert send(receiver, 1)[0].result == "delivered"
