"""The archive of classes: made beside a job, used only where it is whole, fits, and is nobody else's."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest

from cep.job.spark.class_archive import VARIABLE, ClassArchive, Pace, class_archive, made_later
from cep.job.spark.gateway import classpath
from cep.job.spark.java import require_java

pytestmark = pytest.mark.spark  # a JVM, which does nothing
AT_ONCE = Pace(0, os.getpriority(os.PRIO_PROCESS, 0))


@pytest.fixture
def spark(tmp_path: Path) -> Path:
    """A folder like that of pyspark, with a jar in it."""
    jars = tmp_path / "pyspark" / "jars"
    jars.mkdir(parents=True)
    with ZipFile(jars / "slf4j-api-2.jar", "w") as jar:
        jar.writestr("a", "a")
    return jars.parent


def archive_in(cache: Path, spark: Path) -> ClassArchive:
    found = class_archive(require_java(os.environ), classpath(spark), {VARIABLE: str(cache)})
    assert found is not None
    return found


def started(archive: ClassArchive, listed: Path, *more: str) -> int:
    """The exit code of a JVM that is started as Spark's is, and only says its version."""
    line = [str(archive.java), "-XX:+UseSerialGC", "-Xmx1g", *archive.options(listed), *more]
    return subprocess.run([*line, "-cp", archive.classpath, "-version"], capture_output=True).returncode


def made(cache: Path, spark: Path, tmp_path: Path) -> ClassArchive:
    archive, listed, log = archive_in(cache, spark), tmp_path / "classes", tmp_path / "log"
    assert started(archive, listed) == 0
    assert len(listed.read_text("utf-8").splitlines()) > 100
    with listed.open("a", encoding="utf-8") as file:
        file.write("java/lang/Str")  # the JVM is writing
    with made_later(archive, listed, log, pace=AT_ONCE) as thread:
        assert thread is not None
        thread.join()
    assert archive.there() is not None, log.read_text("utf-8")
    return archive


def kept(archive: ClassArchive) -> Path:
    """Its file, which is all that the folder holds."""
    (found,) = archive.folder.iterdir()
    assert archive.there() in (found, None)
    return found


@pytest.mark.slow
def test_an_archive_is_made_once_and_then_mapped(tmp_path: Path, spark: Path) -> None:
    cache, listed = tmp_path / "cache", tmp_path / "classes"
    archive = made(cache, spark, tmp_path)
    assert kept(archive) == archive.there()
    assert cache.stat().st_mode & 0o777 == 0o700
    # with this option a JVM that cannot map its archive ends
    assert started(archive, listed, "-Xshare:on") == 0
    with made_later(archive, listed, tmp_path / "log", pace=AT_ONCE) as thread:
        assert thread is None


@pytest.mark.slow
def test_a_damaged_archive_is_not_used_and_stops_nothing(tmp_path: Path, spark: Path) -> None:
    archive, listed = made(tmp_path / "cache", spark, tmp_path), tmp_path / "classes"
    path = kept(archive)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.chmod(0o600)
    for damaged in (data, data[: len(data) // 3]):  # a JVM that is given half a file crashes
        path.write_bytes(damaged)
        assert archive.there() is None
        assert archive.options(listed) == (f"-XX:DumpLoadedClassList={listed}",)
        assert started(archive, listed) == 0
    with made_later(archive, listed, tmp_path / "log", pace=AT_ONCE) as thread:
        assert thread is not None
        thread.join()
    assert kept(archive) == archive.there()  # in its place
    assert started(archive, listed, "-Xshare:on") == 0


@pytest.mark.slow
def test_an_archive_is_mapped_where_it_was_made_for(tmp_path: Path, spark: Path) -> None:
    archive, listed = made(tmp_path / "cache", spark, tmp_path), tmp_path / "classes"
    line = [str(archive.java), "-XX:+UseSerialGC", "-Xmx1g", *archive.options(listed), "-Xlog:cds"]
    told = subprocess.run([*line, "-cp", archive.classpath, "-version"], capture_output=True, text=True)
    mapped = [one for one in told.stdout.splitlines() if "Mapped static" in one]
    assert any("ReadOnly" in one for one in mapped)
    # of addresses that are to be rewritten there is a bitmap
    assert not any("Bitmap" in one for one in mapped), mapped


@pytest.mark.slow
def test_other_jars_have_another_archive_which_replaces_theirs(tmp_path: Path, spark: Path) -> None:
    cache = tmp_path / "cache"
    before = made(cache, spark, tmp_path)
    assert archive_in(cache, spark) == before
    with ZipFile(spark / "jars" / "slf4j-api-2.jar", "a") as jar:
        jar.writestr("b", "b")
    assert archive_in(cache, spark).there() is None
    kept(before)
    after = made(cache, spark, tmp_path)
    assert kept(after) == after.there()


def test_a_job_that_ends_leaves_nothing_half_made(tmp_path: Path, spark: Path) -> None:
    archive, listed = archive_in(tmp_path / "cache", spark), tmp_path / "classes"
    started(archive, listed)
    with made_later(archive, listed, tmp_path / "log") as thread:
        assert thread is not None
    assert not thread.is_alive()
    with made_later(archive, listed, tmp_path / "log", pace=AT_ONCE):
        while not (tmp_path / "log").exists():
            assert thread is not None
    assert list(archive.folder.iterdir()) in ([], [archive.there()])


def test_what_another_user_may_write_is_not_run(tmp_path: Path, spark: Path) -> None:
    cache, listed = tmp_path / "cache", tmp_path / "classes"
    archive = archive_in(cache, spark)
    (cache / "making").write_bytes(b"x")
    archive.keep(cache / "making")
    path = kept(archive)
    assert archive.options(listed)[0] == f"-XX:SharedArchiveFile={path}"
    path.chmod(0o620)
    assert archive.options(listed) == (f"-XX:DumpLoadedClassList={listed}",)
    path.rename(tmp_path / "theirs").chmod(0o600)
    path.symlink_to(tmp_path / "theirs")
    assert archive.options(listed) == (f"-XX:DumpLoadedClassList={listed}",)
    cache.chmod(0o777)
    assert class_archive(archive.java, archive.classpath, {VARIABLE: str(cache)}) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_folder_of_another_user_holds_no_archive(tmp_path: Path, spark: Path) -> None:
    cache = tmp_path / "cache"
    archive = archive_in(cache, spark)
    os.chown(cache, 12345, 12345)
    assert class_archive(archive.java, archive.classpath, {VARIABLE: str(cache)}) is None


def test_where_no_folder_can_be_nothing_is_kept(tmp_path: Path, spark: Path) -> None:
    java, classes = require_java(os.environ), classpath(spark)
    (tmp_path / "file").write_text("")
    for environment in ({VARIABLE: ""}, {VARIABLE: str(tmp_path / "file")}):
        assert class_archive(java, classes, environment) is None
    found = class_archive(java, classes, {"XDG_CACHE_HOME": str(tmp_path / "home")})
    assert found is not None
    assert found.folder == tmp_path / "home" / "cep"
