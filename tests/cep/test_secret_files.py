"""A secret's file is a small regular file of text, whatever a job file or an option names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cep.secrets import Secret, SecretError


def reason(path: Path | str) -> str:
    with pytest.raises(SecretError) as told:
        Secret(f"file:{path}", Path()).reveal({})
    return str(told.value)


def test_a_file_without_end_is_not_read() -> None:
    assert reason("/dev/zero") == "/dev/zero is no regular file"


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert reason(tmp_path / "pipe").endswith("is no regular file")


def test_a_long_file_is_no_secret(tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(b"x" * 65_537)
    assert reason(tmp_path / "long").endswith("is longer than 65,536 bytes")


def test_a_folder_and_bytes_that_are_no_text_are_told(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    assert reason(tmp_path / "bytes").endswith("is not text")
    assert reason(tmp_path).endswith("is a folder")
    assert reason(tmp_path / "none").startswith("there is no file")


def test_a_file_is_its_text_without_the_line_end(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"whsec_abc\r\n")
    assert Secret("file:secret", tmp_path).reveal({}) == "whsec_abc"
