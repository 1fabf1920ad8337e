"""A state in a bucket, without a job: what goes with it, its objects one by one, query sets in and out."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from object_store import KEY, REGION, SECRET, ObjectStore

from cep.buckets import Bucket
from cep.config import load_job
from cep.errors import OutsideError
from cep.files import DamagedFileError, by_name, read_json, remove_old, write_json
from cep.job.state_folder import manifest
from cep.job.state_folder.folder import StateFolder
from cep.job.state_folder.manifest import Manifest
from cep.plan.plan import HitStream, hit_streams
from cep.standing.compiled import UnreadableError, name_of
from cep.standing.store import QueryStore
from rules.diagnostics import Diagnostic
from rules.packs import load

pytestmark = pytest.mark.slow

JOB = """[job]
name = "fraud"
packs = "packs/"
state = "s3a://states/fraud/"
[feeds.payment]
source = "files"
path = "inbox/*.csv"
"""
POSTGRES = '[outbox]\nurl = "postgresql://cep@db/fraud"\n'


def _told(folder: Path, text: str, **environ: str) -> list[Diagnostic]:
    (folder / "job.toml").write_text(text, "utf-8")
    return list(load_job(folder / "job.toml", environ).diagnostics)


@pytest.mark.parametrize(
    ("more", "message", "at"),
    [
        ("", "an outbox that other machines reach", '"s3a://states/fraud/"'),
        (POSTGRES + '[s3]\naccess_key = "key"', "`access_key` stands without `secret_key`", "access_key"),
        (
            POSTGRES + '[s3]\nsecret_key = "file:key"',
            "`secret_key` stands without `access_key`",
            "secret_key",
        ),
    ],
)
def test_what_does_not_go_with_a_bucket_is_told(tmp_path: Path, more: str, message: str, at: str) -> None:
    (tmp_path / "key").write_text("secret", "utf-8")
    (one,) = [
        found for found in _told(tmp_path, JOB + more, SHOP="0123456789-0123456789") if found.level == "error"
    ]
    assert (one.code, one.span and one.span.text) == ("CEP0759", at)
    assert message in one.message


@pytest.mark.parametrize(("more", "key"), [('[s3]\nregion = "x"', "s3"), ("", "local")])
def test_options_of_a_bucket_are_told_where_there_is_none(tmp_path: Path, more: str, key: str) -> None:
    here = JOB.replace('"s3a://states/fraud/"', '"state/"' + ('\nlocal = "here/"' if key == "local" else ""))
    (one,) = _told(tmp_path, here + more)
    assert (one.code, one.span and one.span.text) == ("CEP0759", key)


def test_a_bucket_is_as_the_job_file_says(tmp_path: Path) -> None:
    text = JOB + POSTGRES + '[s3]\nregion = "eu-central-1"\naccess_key = "key"\nsecret_key = "${KEY}"\n'
    (tmp_path / "job.toml").write_text(text, "utf-8")
    loaded = load_job(tmp_path / "job.toml", {"KEY": "hidden"})
    assert loaded.diagnostics == ()
    folder = StateFolder.of(loaded.need(), {"KEY": "hidden", "AWS_ENDPOINT_URL": "https://minio:9000"})
    assert (folder.root, loaded.need().keep) == (tmp_path / "local-fraud", 86_400 * 10**9)
    assert folder.bucket == Bucket(
        "s3a://states/fraud", "https://minio:9000", "eu-central-1", "key", "hidden"
    )
    assert (str(folder), folder.checkpoint_name) == ("s3a://states/fraud", "s3a://states/fraud/checkpoint")
    assert "hidden" not in repr(folder)
    literal = _told(tmp_path, text.replace("${KEY}", "hidden"))
    assert [(one.code, one.level) for one in literal] == [("CEP0759", "warning")]


def test_a_bucket_that_cannot_be_read_says_why(s3: ObjectStore) -> None:
    assert s3.bucket().trouble() is None
    gone = Bucket("s3a://nowhere/fraud", s3.endpoint, REGION, KEY, SECRET)
    assert gone.trouble() == "the bucket of s3a://nowhere/fraud is not there"
    silent = Bucket("s3a://states/fraud", "http://127.0.0.1:9", REGION, KEY, SECRET)
    assert silent.trouble() == "the store of s3a://states/fraud does not answer"


def test_objects_are_whole_and_one_that_is_new_is_made_once(s3: ObjectStore) -> None:
    place = s3.bucket().path / "manifests"
    assert by_name(place, ".json") == []
    write_json(place / "1.json", {"a": 1}, new=True)
    with pytest.raises(FileExistsError):
        write_json(place / "1.json", {"a": 2}, new=True)
    assert read_json(place / "1.json") == {"a": 1}
    write_json(place / "1.json", {"a": 3})
    write_json(place / "10.json", {})
    write_json(place / ".hidden.json", {})
    assert [path.name for path in by_name(place, ".json")] == ["1.json", "10.json"]
    (place / "1.json").write_bytes((place / "1.json").read_bytes().replace(b"3", b"4"))
    with pytest.raises(DamagedFileError, match="checksum differs"):
        read_json(place / "1.json")
    for number in (1, 2, -1):
        remove_old(place, number, ".json")
    assert [path.name for path in by_name(place, ".json")] == ["10.json"]
    with pytest.raises(FileNotFoundError):
        read_json(place / "1.json")


def test_of_two_that_begin_a_batch_one_has_it(s3: ObjectStore) -> None:
    folders = [StateFolder(Path(name), bucket=s3.bucket()) for name in ("a", "b")]
    one, other = Manifest(0, {"p": "a"}, 4, 1), Manifest(0, {"p": "b"}, 4, 2)
    manifest.write(folders[0].manifests, one, new=True)
    with pytest.raises(OutsideError) as raised:
        manifest.write(folders[0].manifests, other, new=True)
    assert raised.value.code == manifest.BEGUN_ELSEWHERE
    assert manifest.read(folders[0].manifests, 0) == one
    assert manifest.read(folders[1].manifests, 0) is None


def _hits(folder: Path) -> HitStream:
    """Queries over articles, deployed from a folder."""
    folder.mkdir()
    (folder / "w.jsonl").write_text(json.dumps({"id": "q1", "query": "recall"}), "utf-8")
    (folder / "p.rules").write_text(
        'pack p version "1"\nstream article { url: string  title: text  at: timestamp  id url  time at }\n'
        'queries w { from "w.jsonl" }\nrule r { on article matching w  emit query }\n', "utf-8",
    )  # fmt: skip
    (hits,) = hit_streams(load([folder]).need())
    return hits


def test_a_set_that_one_machine_made_is_found_on_another(tmp_path: Path, s3: ObjectStore) -> None:
    kept, hits = s3.bucket().path / "queries", _hits(tmp_path / "pack")
    QueryStore(tmp_path / "one", kept).put(hits)
    hits = replace(hits, queries=replace(hits.queries, path=""))  # as a job knows them
    other = QueryStore(tmp_path / "other", kept)
    assert len(other.load(hits)) == 1
    assert {path.name for path in (tmp_path / "other").iterdir()} == {name_of(hits)}
    # a set that was sent in part is not there: it is compiled anew from the file that was deployed
    (kept / f"{name_of(hits)}.list").unlink()
    third = QueryStore(tmp_path / "third", kept)
    with pytest.raises(UnreadableError):
        third.load(hits)
    third.put(hits)
    assert len(QueryStore(tmp_path / "fourth", kept).load(hits)) == 1


def test_a_set_that_nobody_uses_goes_from_the_bucket(tmp_path: Path, s3: ObjectStore) -> None:
    bucket = s3.bucket()
    kept, hits = bucket.path / "queries", _hits(tmp_path / "pack")
    used = QueryStore(tmp_path / "used", kept)
    used.put(hits)
    there = s3.names(bucket)
    assert used.prune(0) == 0
    later = 4_000_000_000.0
    os.utime(tmp_path / "used" / name_of(hits), (later, later))
    for path in (tmp_path / "used").iterdir():
        os.utime(path, (later, later))
    assert used.prune(later - 1) == 0
    assert s3.names(bucket) == there, "what this machine uses stays"
    assert QueryStore(tmp_path / "none", kept).prune(later) == 2
    assert s3.names(bucket) == []
    assert QueryStore(tmp_path / "none", kept).prune(later) == 0
