"""`ops/kubernetes/`: objects such as Kubernetes knows, which name what is there; the job file is right."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from kubernetes_validate import SchemaNotFoundError

from cep.config import load_job
from rules.diagnostics import Diagnostic

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "ops" / "kubernetes"
SECRETS = {
    "DATABASE_URL": "postgresql://cep@db/fraud",
    "S3_KEY": "key",
    "S3_SECRET": "secret",
    "DESK_TOKEN": "0123456789-0123456789",
    "WEBHOOK_SECRET": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
}
OBJECTS: list[dict[str, Any]] = [
    one for file in sorted(FOLDER.glob("*.yaml")) for one in yaml.safe_load_all(file.read_text("utf-8"))
]
PODS = {one["metadata"]["name"]: one["spec"]["template"] for one in OBJECTS if one["kind"] == "Deployment"}


def _named(kind: str) -> dict[str, dict[str, Any]]:
    return {one["metadata"]["name"]: one for one in OBJECTS if one["kind"] == kind}


@pytest.mark.parametrize("version", ["1.31", "1.34", "1.37"])
@pytest.mark.parametrize("one", OBJECTS, ids=lambda one: f"{one['kind']}-{one['metadata']['name']}")
def test_every_object_is_one_of_kubernetes(one: dict[str, Any], version: str) -> None:
    try:
        kubernetes_validate.validate(one, version, strict=True)
    except SchemaNotFoundError as error:
        pytest.fail(f"this release knows no {version}: {error}")
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(one | {"sepc": {}}, version, strict=True)


def test_services_and_policies_choose_pods_that_there_are() -> None:
    labels = [pod["metadata"]["labels"] for pod in PODS.values()]

    def chosen(wanted: Mapping[str, str]) -> int:
        return sum(wanted.items() <= own.items() for own in labels)

    for service in _named("Service").values():
        assert chosen(service["spec"]["selector"]) == 1
    for deployment in _named("Deployment").values():
        assert chosen(deployment["spec"]["selector"]["matchLabels"]) == 1
    (policy,) = _named("NetworkPolicy").values()
    (rule,) = policy["spec"]["ingress"]
    assert chosen(rule["from"][0]["podSelector"]["matchLabels"]) == len(PODS)


def test_one_image_has_every_program_at_the_path_of_the_job_file() -> None:
    containers = [one for pod in PODS.values() for one in pod["spec"]["containers"]]
    assert len({one["image"] for one in containers}) == 1
    programs = {Path(one["command"][0]) for one in containers}
    assert {path.parent for path in programs} == {Path("/opt/cep/bin")}
    here = Path(sys.executable).parent
    for path in programs:
        assert (here / path.name).exists(), path
    text = (FOLDER / "Dockerfile").read_text("utf-8")
    for sources in re.findall(r"^COPY (.*) /", text, re.MULTILINE):
        for source in sources.split():
            assert (ROOT / source).exists(), source
    assert "python3 -m venv /opt/cep" in text
    pinned = re.findall(r'"(psycopg\[binary\]==[\d.]+)"', (ROOT / "pyproject.toml").read_text("utf-8"))
    assert pinned
    assert pinned[0] in text


def _told(folder: Path, **environ: str) -> list[Diagnostic]:
    text = _named("ConfigMap")["fraud"]["data"]["job.toml"]
    (folder / "job.toml").write_text(text, "utf-8")
    return list(load_job(folder / "job.toml", environ).diagnostics)


def test_the_job_file_is_right_and_needs_the_secrets_that_are_told(tmp_path: Path) -> None:
    assert _told(tmp_path, **SECRETS) == []
    for name in SECRETS:
        (missing,) = _told(tmp_path, **{one: value for one, value in SECRETS.items() if one != name})
        assert f"{name} is not set" in missing.message
    text = (ROOT / "docs" / "scale.md").read_text("utf-8")
    assert set(SECRETS) <= set(re.findall(r"\b[A-Z][A-Z0-9_]+\b", text)), "a page names them"


def test_the_job_and_its_cluster_agree(tmp_path: Path) -> None:
    _told(tmp_path, **SECRETS)
    job = load_job(tmp_path / "job.toml", SECRETS).need()
    (worker,) = PODS["spark-worker"]["spec"]["containers"]
    (own,) = PODS["fraud"]["spec"]["containers"]
    arguments = worker["args"]
    cores = int(arguments[arguments.index("--cores") + 1])
    assert arguments[-1] == job.machines.master
    assert job.machines.cores == cores * _named("Deployment")["spark-worker"]["spec"]["replicas"]
    assert job.machines.conf["spark.executor.cores"] == str(cores)
    (service,) = [one for one in _named("Service").values() if one["spec"].get("clusterIP") == "None"]
    assert (
        job.machines.master == f"spark://{service['metadata']['name']}:{service['spec']['ports'][0]['port']}"
    )
    mounted = {one["mountPath"] for one in own["volumeMounts"]}
    assert {"/etc/cep/job.toml", str(job.packs), str(job.state)} <= mounted
    assert job.http is not None
    assert job.http.port == own["ports"][0]["containerPort"]
