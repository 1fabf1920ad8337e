"""The peers are built from pinned parts, and who lacks Java or Maven is told so."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PEERS = ROOT / "benchmarks" / "peers"
POM = "{http://maven.apache.org/POM/4.0.0}"
POMS = sorted(PEERS.glob("java/**/pom.xml"))
BOUND = {"resources", "compiler", "surefire", "jar", "dependency"}
"""The plugins that `mvn package` runs on a jar, and the one that copies what it needs."""


def text(element: ET.Element, name: str) -> str:
    return element.findtext(f"{POM}{name}") or ""


def properties() -> dict[str, str]:
    found = ET.parse(PEERS / "java" / "pom.xml").getroot().find(f"{POM}properties")
    assert found is not None
    return {one.tag.removeprefix(POM): one.text or "" for one in found}


@pytest.mark.parametrize("pom", POMS, ids=lambda pom: pom.parent.name)
def test_every_dependency_and_plugin_has_one_version(pom: Path) -> None:
    known = {f"${{{name}}}": value for name, value in properties().items()} | {"${project.version}": "1"}
    for kind in ("dependency", "plugin"):
        for one in ET.parse(pom).getroot().iter(f"{POM}{kind}"):
            version = text(one, "version")
            if kind == "plugin" and not version:
                continue  # a use of what pluginManagement pins
            assert re.fullmatch(r"\d+(\.\d+)*", known.get(version, version)), text(one, "artifactId")


def test_the_plugins_that_a_build_runs_are_pinned() -> None:
    managed = ET.parse(PEERS / "java" / "pom.xml").getroot().find(f".//{POM}pluginManagement")
    assert managed is not None
    pinned = {text(one, "artifactId") for one in managed.iter(f"{POM}plugin") if text(one, "version")}
    used = {text(one, "artifactId") for pom in POMS for one in ET.parse(pom).getroot().iter(f"{POM}plugin")}
    assert {f"maven-{name}-plugin" for name in BOUND} | used == pinned


def test_every_folder_with_a_pom_is_a_module_and_is_started_from_python() -> None:
    modules = {one.text for one in ET.parse(PEERS / "java" / "pom.xml").getroot().iter(f"{POM}module")}
    assert modules == {pom.parent.name for pom in POMS} - {"java"}
    started = {
        name
        for path in PEERS.glob("*.py")
        for name in re.findall(r'program\("(\w+)"', path.read_text("utf-8"))
    }
    assert started == modules - {"measured"}


def test_no_file_names_a_host_or_a_registry() -> None:
    files = [
        path
        for kind in ("py", "java", "xml")
        for path in PEERS.rglob(f"*.{kind}")
        if "target" not in path.parts
    ]
    assert len(files) > 20
    for path in files:
        written = path.read_text("utf-8").replace(POM[1:-1], "")
        assert "://" not in written.replace("sqlite://", ""), path
        assert "<repositor" not in written, path


def test_who_lacks_java_or_maven_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    from peers import java

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(java.MissingError, match=r"Java 17 or newer is needed.*apt-get install openjdk"):
        java.build()
    with pytest.raises(java.MissingError, match=r"Maven \(mvn\) is needed.*apt-get install maven"):
        java.maven()


def test_a_java_that_is_too_old_is_not_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    from peers import java

    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "java"
    command.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    command.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(java.MissingError, match="Java 17 or newer"):
        java.java()
    command.write_text("#!/bin/sh\necho 'openjdk version \"21.0.2\"' >&2\n")
    assert java.java() == str(command)
