"""The JVM is started as Spark's own scripts would start it, and workers find what they need at once."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pyspark
import pytest
from job_folder import JobFolder
from local_files_jar import compiled, contained
from pyspark.accumulators import _start_update_server
from rules_of_tests import pack, payments

from cep.errors import OutsideError
from cep.job.spark import gateway, session
from cep.job.spark.java import require_java
from cep.job.state_folder.folder import StateFolder

SPARK = Path(pyspark.__file__).parent


def test_the_end_of_java_prints_nothing_of_its_accumulators(capsys: pytest.CaptureFixture[str]) -> None:
    server = _start_update_server("token", False)
    session._end_without_a_word(server)
    update, taken = b"token" + bytes(4), b"\1"  # of no accumulator
    try:
        for _ in range(2):  # the second is heard when the first is through
            with socket.create_connection(server.server_address) as java:
                java.sendall(update)
                assert java.recv(1) == taken
        assert capsys.readouterr().err == ""
        with socket.create_connection(server.server_address) as stranger:
            stranger.sendall(b"other" + bytes(4))
            assert stranger.recv(1) == b""
        with socket.create_connection(server.server_address) as java:
            java.sendall(update)
            assert java.recv(1) == taken
        assert "The value of the provided token" in capsys.readouterr().err
    finally:
        server.shutdown()


@pytest.mark.spark
def test_the_command_is_that_of_sparks_launcher(tmp_path: Path) -> None:
    options = session.options(StateFolder(tmp_path))
    settings = {"spark.app.name": "cep"}
    java = require_java(os.environ)
    launcher = [java, "-cp", str(SPARK / "jars" / "*"), "org.apache.spark.launcher.Main"]
    asked = ["org.apache.spark.deploy.SparkSubmit", "--conf", "spark.app.name=cep"]
    asked += ["--conf", f"spark.driver.extraJavaOptions={' '.join(options)}", "pyspark-shell"]
    conf = tmp_path / "conf"
    conf.mkdir()
    environment = {"SPARK_HOME": str(SPARK), "SPARK_CONF_DIR": str(conf), "SPARK_SCALA_VERSION": "2.13"}
    done = subprocess.run([*launcher, *asked], env=environment, capture_output=True, text=True, check=True)
    theirs = [part.strip() for part in done.stdout.split("\0") if part.strip()]
    ours = gateway.command(java, gateway.classpath(SPARK), options, settings)
    assert Path(theirs[0]).samefile(Path(ours[0]).resolve())
    # a folder of settings, which we have none of, stands before the jars, and our own jar among them; what is
    # a setting of Spark there is an option of the JVM here
    assert theirs[2] == f"{conf}/:{ours[2]}".replace(f":{gateway.LOCAL_FILES}", "")
    at = theirs.index("--conf", theirs.index("org.apache.spark.deploy.SparkSubmit"))
    rest = theirs[3:at] + [part for part in theirs[at:] if "extraJavaOptions" not in part]
    assert [part for part in rest if part != "--conf"] == [part for part in ours[3:] if part != "--conf"]


@pytest.mark.slow
def test_a_jvm_that_ends_at_once_is_told_of_with_its_log(tmp_path: Path) -> None:
    log = tmp_path / "spark.log"
    line = [sys.executable, "-c", "import sys; sys.exit('no memory')"]
    with log.open("wb") as file, pytest.raises(OutsideError) as refused:
        gateway.launched(line, file.fileno(), log)
    assert refused.value.help == f"see {log}"
    assert "no memory" in log.read_text("utf-8")


UNANSWERED = """
import os, socket, struct, sys
from pathlib import Path

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
told = Path(os.environ["_PYSPARK_DRIVER_CONN_INFO_PATH"])
told.with_suffix(".part").write_bytes(struct.pack(">ii", port, 6) + b"secret")
told.with_suffix(".part").rename(told)
sys.stdin.read()
"""


@pytest.mark.slow
def test_a_jvm_that_says_where_it_listens_and_does_not_is_ended(tmp_path: Path) -> None:
    log, started = tmp_path / "spark.log", list[subprocess.Popen[bytes]]()
    with log.open("wb") as file, pytest.raises(OSError, match="refused"):
        gateway.launched([sys.executable, "-c", UNANSWERED], file.fileno(), log, started.append)
    (process,) = started
    assert process.poll() is not None


@pytest.mark.spark
def test_one_process_forks_all_workers_reads_pyspark_with_its_bytecode_and_has_no_pandas(
    spark: Callable[..., Any], tmp_path: Path
) -> None:
    def where(_: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pydict(
            {"place": [str(pyspark.__file__)], "pandas": ["pandas" in sys.modules]}
        )

    folder = JobFolder(tmp_path / "job", pack(), ("payment",))
    folder.put("payment", payments(0, 20))
    folder.once(spark)  # mappers, and matchers behind the shuffle
    with spark() as opened:
        rows = opened.range(4).mapInArrow(where, "place string, pandas boolean").collect()
        jvm = psutil.Process(opened.sparkContext._gateway.proc.pid)
    assert {tuple(row) for row in rows} == {(pyspark.__file__, False)}
    assert sum(_is_daemon(child) for child in jvm.children()) == 1


def _is_daemon(process: psutil.Process) -> bool:
    """False also for what has ended since it was listed."""
    with suppress(psutil.Error):
        return "cep.job.workers.daemon" in process.cmdline()
    return False


@pytest.mark.spark
def test_the_jar_holds_what_its_source_says(spark: Callable[..., Any]) -> None:
    with spark() as opened:
        assert contained() == compiled(opened.sparkContext._jvm)


@pytest.mark.spark
def test_spark_writes_files_without_a_process_for_their_permissions(
    spark: Callable[..., Any], tmp_path: Path
) -> None:
    with spark() as opened:
        hadoop = opened.sparkContext._jvm.org.apache.hadoop
        settings = opened._jsparkSession.sessionState().newHadoopConf()
        files = hadoop.fs.Path(str(tmp_path)).getFileSystem(settings)
        assert files.getClass().getName() == "cep.LocalFiles"
        made, jvm = hadoop.fs.Path(str(tmp_path / "folder" / "file")), opened.sparkContext._gateway.proc.pid
        before = _faults_of_ended_children(jvm)
        files.create(made).close()
        for mode in (0o640, 0o755, 0o600):
            files.setPermission(made, hadoop.fs.permission.FsPermission(mode))
            assert (tmp_path / "folder" / "file").stat().st_mode & 0o777 == mode
        assert _faults_of_ended_children(jvm) == before
    assert (tmp_path / "folder").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "folder" / ".file.crc").exists()


def _faults_of_ended_children(process: int) -> int:
    """Minor page faults of all children that a process has waited for: each of them has some (proc(5))."""
    text = Path(f"/proc/{process}/stat").read_text("utf-8")
    return int(text.rpartition(")")[2].split()[8])
