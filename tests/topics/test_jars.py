"""The jars of Kafka are pinned, compared with a list, and whoever lacks them is told how to come by them."""

from __future__ import annotations

import hashlib
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from cep.errors import OutsideError
from cep.job.spark.jars import fetched as jars
from cep.job.spark.jars.__main__ import main

ROOT = Path(__file__).parents[2]
FOLDERS = (jars.KAFKA, jars.S3, ROOT / "examples" / "broker")
POM = "{http://maven.apache.org/POM/4.0.0}"
MAVEN = """#!/bin/sh
for word; do case $word in -DoutputDirectory=*) target=${word#*=}; esac; done
mkdir -p $target && printf '%s' "$SAID" > $target/one.jar
"""
"""Puts one jar where it is told to."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose list names one jar, on a machine where Maven copies what the variable SAID holds."""
    made = tmp_path / "folder"
    made.mkdir()
    (made / "pom.xml").touch()
    (made / "jars.sha256").write_text(f"{hashlib.sha256(b'right').hexdigest()}  one.jar\n", "utf-8")
    program = tmp_path / "bin" / "mvn"
    program.parent.mkdir()
    program.write_text(MAVEN, "utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.setenv("SAID", "right")
    return made


@pytest.mark.parametrize("place", FOLDERS, ids=lambda place: place.name)
def test_every_jar_of_a_pom_has_one_version_and_a_digest(place: Path) -> None:
    listed = jars.listed(place)
    root = ET.parse(place / "pom.xml").getroot()
    for one in root.iter(f"{POM}dependency"):
        assert f"{one.findtext(f'{POM}artifactId')}-{one.findtext(f'{POM}version')}.jar" in listed
    assert all(
        re.fullmatch(r"\d+\.\d+\.\d+", one.findtext(f"{POM}version") or "")
        for one in root.iter(f"{POM}plugin")
    )
    assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in listed.values())


def test_jars_that_are_there_are_not_fetched_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert jars.fetch(folder)
    monkeypatch.setenv("SAID", "another")
    assert not jars.fetch(folder)
    assert [one.read_text("utf-8") for one in jars.jars(folder)] == ["right"]
    assert {one.name for one in folder.iterdir()} == {"jars", "jars.sha256", "pom.xml"}


def test_a_damaged_jar_is_named_and_fetched_anew(folder: Path) -> None:
    jars.fetch(folder)
    (folder / "jars" / "one.jar").write_text("damaged", "utf-8")
    with pytest.raises(OutsideError, match=r"one\.jar is not the one.*python -m cep\.job\.spark\.jars"):
        jars.jars(folder)
    assert jars.fetch(folder)
    assert jars.jars(folder)


def test_a_jar_other_than_the_list_has_it_is_not_taken(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAID", "another")
    with pytest.raises(OutsideError, match=r"Maven brought other jars.*one\.jar"):
        jars.fetch(folder)
    assert not (folder / "jars").exists()


def test_who_lacks_maven_is_told_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("cep.job.spark.jars.__main__.KAFKA", folder)
    assert main([]) == 3
    assert "apt-get install maven" in capsys.readouterr().err


def test_what_maven_says_is_told(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "bin" / "mvn").write_text("#!/bin/sh\necho '[ERROR] no route to it' >&2; exit 1\n", "utf-8")
    with pytest.raises(OutsideError, match="no route to it") as raised:
        jars.fetch(folder)
    assert raised.value.code == "CEP0872"
