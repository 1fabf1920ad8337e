"""Everything that workers get besides rows comes as it was sent, or an error tells that it did not."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.errors import ConfigurationError, OutsideError, from_text
from cep.job.shipping import declared, packs
from cep.job.shipping.blobs import Sender, clear, opened
from cep.job.shipping.declared import ALL, AWAY_FROM, MISSING, TOO_LARGE, Shipped
from cep.job.shipping.folders import Shared
from cep.job.shipping.rows import AWAY, Kind
from cep.job.shipping.task import current, pickled, send
from cep.job.state_folder.folder import StateFolder
from cep.job.state_folder.manifest import Lost, Manifest
from cep.job.workers.mapper import Lanes
from cep.job.workers.matcher import Matcher
from cep.job.workers.worker import worker
from cep.packs.compile import compile_plan
from rules.packs import load_texts

DOCS = Path(__file__).parents[2] / "docs"
PACK = """pack p version "1"
stream e { id_: string  at: timestamp  id id_  time at }
rule r { on e }
"""


@given(
    st.lists(
        st.tuples(st.sampled_from(Kind), st.sampled_from([0, 1, AWAY_FROM - 1, AWAY_FROM, 3 * AWAY_FROM])),
        max_size=8,
    )
)
def test_payloads_come_as_they_were_sent_and_none_is_left(sizes: list[tuple[Kind, int]]) -> None:
    sent = [(kind, os.urandom(size)) for kind, size in sizes]
    with TemporaryDirectory() as name:
        folder = Path(name)
        with closing(Sender(folder, "7")) as sender:
            rows = [sender.row(*one) for one in sent]
        assert list(opened(folder, rows)) == sent
        assert all(len(data) < AWAY_FROM for _, data in rows), "what is larger is no row"
        assert [kind >= AWAY for kind, _ in rows] == [len(data) >= AWAY_FROM for _, data in sent]
        clear(folder)
        assert list(folder.iterdir()) == []


def test_a_blob_that_is_missing_or_cut_is_told(tmp_path: Path) -> None:
    with closing(Sender(tmp_path, "7")) as sender:
        rows = [sender.row(Kind.EVENTS, bytes(AWAY_FROM)), sender.row(Kind.EVENTS, bytes(AWAY_FROM))]
    (blob,) = tmp_path.iterdir()
    os.truncate(blob, 2 * AWAY_FROM - 1)
    found = opened(tmp_path, rows)
    assert next(found) == (Kind.EVENTS, bytes(AWAY_FROM))
    with pytest.raises(ConfigurationError, match=rf"{blob}.* ends before byte 131,072") as cut:
        next(found)
    blob.unlink()
    with pytest.raises(ConfigurationError, match=f"{blob}.* is missing") as missing:
        next(opened(tmp_path, rows))
    assert {cut.value.code, missing.value.code} == {MISSING}
    assert "start the job again" in cut.value.help


def test_a_manifest_that_is_too_large_is_told_before_any_of_it_is_sent() -> None:
    assert declared.MANIFEST.bound is not None
    manifest = Manifest(7, {}, 1, 0, lost=(Lost("e", "é" * (declared.MANIFEST.bound.most // 2), ""),))
    with pytest.raises(ConfigurationError, match=r"the manifest of batch 7 has [\d,]+ bytes") as raised:
        send(cast("object", None), manifest, careful=False)  # type: ignore[arg-type]  # it is not asked
    assert raised.value.code == TOO_LARGE
    assert "divide the job" in raised.value.help


def test_a_task_without_a_manifest_is_told() -> None:
    with pytest.raises(ConfigurationError) as raised:
        current()
    assert raised.value.code == MISSING


@pytest.mark.slow
@pytest.mark.parametrize("keys", [16, 1_000_000])
def test_what_goes_with_the_query_is_small(tmp_path: Path, keys: int) -> None:
    shared, numbers = Shared.of(StateFolder(tmp_path)), tuple(range(keys))
    values = ((declared.MAPPER, Lanes(shared, 1, numbers, {})), (declared.MATCHER, Matcher(shared, numbers)))
    for thing, value in values:
        if keys == 16:
            assert pickled(thing, value) is value
            continue
        with pytest.raises(ConfigurationError, match=f"{thing.what} of the query has") as raised:
            pickled(thing, value)
        assert raised.value.code == TOO_LARGE


def test_a_worker_compiles_the_packs_that_a_manifest_names_and_keeps_one_job(tmp_path: Path) -> None:
    running = load_texts([("p.rules", PACK)]).need()
    jobs = [StateFolder(tmp_path / name) for name in "ab"]
    for folder in jobs:
        folder.make()
        packs.store(folder.packs, running)
    first, second = map(Shared.of, jobs)
    manifest = Manifest(0, {"p": running.revision}, 1, 0)
    mine = worker(first)
    assert mine.plan(manifest) is worker(first).plan(manifest)
    assert mine.plan(manifest).id == compile_plan([running]).id
    assert worker(second) is not mine
    assert worker(first) is not mine, "what was kept for it went when the process worked for another"


def test_a_pack_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"the pack .*/ab\.json .* is missing") as raised:
        packs.load(tmp_path, "ab")
    assert raised.value.code == MISSING


@pytest.mark.parametrize(
    "error",
    [
        ConfigurationError("m", "h", "CEP0748"),
        ConfigurationError("m", "", "CEP0748"),
        OutsideError("m", "h"),
        OutsideError("m = x"),
    ],
)
def test_an_error_crosses_from_a_worker_with_its_code(error: ConfigurationError | OutsideError) -> None:
    kind = type(error)
    found = from_text(f"{kind.__module__}.{kind.__name__}", str(error))
    assert type(found) is kind
    assert (found.message, found.help, found.code) == (error.message, error.help, error.code)


def line_of(one: Shipped) -> str:
    """The line of a thing in the table of docs/architecture.md."""
    place = f"{one.transport} `{one.place}`" if one.place else one.transport
    bound = one.bound
    most = "any size" if bound is None else f"{bound.most >> 20} MiB, else {TOO_LARGE}: {bound.cure}"
    missing = f"{one.code}: {one.missing}" if one.code else one.missing
    return f"| {one.what} | {place} | {most} | {missing} |"


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.what)
def test_a_declared_bound_is_one_and_there_is_none_else(one: Shipped) -> None:
    if one.bound is None:
        one.check(1 << 40, "of the test")
        return
    one.check(one.bound.most, "of the test")
    with pytest.raises(ConfigurationError, match=f"{one.what} of the test has") as raised:
        one.check(one.bound.most + 1, "of the test")
    assert (raised.value.code, raised.value.help) == (TOO_LARGE, one.bound.cure)


def test_the_table_of_the_docs_is_what_is_declared() -> None:
    lines = (DOCS / "architecture.md").read_text("utf-8").splitlines()
    begin = lines.index("| what | transport | at most | where it is missing |")

    assert lines[begin + 2 : begin + 2 + len(ALL)] == [line_of(one) for one in ALL]
