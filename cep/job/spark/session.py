"""Spark with the job's settings, all its messages in a log file: on this machine, listening on loopback only,
or on a cluster."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from importlib.util import find_spec
from pathlib import Path
from socketserver import BaseServer
from typing import TYPE_CHECKING, Any

from cep.config import Machines
from cep.errors import OutsideError
from cep.job.spark import warming
from cep.job.spark.class_archive import class_archive, made_later
from cep.job.spark.cluster import clustered
from cep.job.spark.gateway import LOCAL_FILES, classpath, command, launched
from cep.job.spark.jars.fetched import KAFKA, S3
from cep.job.spark.java import require_java
from cep.job.spark.listing import UNREAD
from cep.job.state_folder.folder import StateFolder
from cep.sources.files.spark_log import COMPACTED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LEAVING = 10.0
"""Seconds for Java to remove its temporary files when Spark has stopped."""

_STATE = "org.apache.spark.sql.execution.streaming"

_LOG4J = """\
rootLogger.level = warn
rootLogger.appenderRef.file.ref = file
appender.file.type = RollingFile
appender.file.name = file
appender.file.fileName = {folder}/spark-messages.log
appender.file.filePattern = {folder}/spark-messages.log.%i
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{{yyyy-MM-dd'T'HH:mm:ss.SSSX}}{{UTC}} %p %c{{1}}: %m%n%ex
appender.file.policies.type = Policies
appender.file.policies.size.type = SizeBasedTriggeringPolicy
appender.file.policies.size.size = 10MB
appender.file.strategy.type = DefaultRolloverStrategy
appender.file.strategy.max = 3
logger.state.name = org.apache.spark.sql.execution.python
logger.state.level = error
logger.plan.name = org.apache.spark.sql.execution.streaming
logger.plan.level = error
"""


SPARING = {
    # room for a sort, and for a value that is sent to tasks: by default 16 MB and 4 MB each time
    "spark.buffer.pageSize": "1m",
    "spark.broadcast.blockSize": "256k",
    # what Spark's page, which is off, would show of the last thousand batches
    "spark.ui.retainedJobs": "1",
    "spark.ui.retainedStages": "1",
    "spark.ui.retainedTasks": "1",
    "spark.sql.ui.retainedExecutions": "1",
}
"""Settings that spare memory where batches are few large rows; [spark.conf] may change all but `spark.ui`."""


def settings(folder: StateFolder, partitions: int) -> dict[str, str]:
    """Spark's settings, each of which was measured or is needed (docs/decisions, the job's settings).

    `partitions` is the number of shuffle and state partitions, fixed for the life of the state folder.
    """
    scratch = str(folder.scratch.absolute())
    return {
        "spark.app.name": "cep",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # Hadoop's own starts a process `chmod` for every file and folder that it makes
        "spark.hadoop.fs.file.impl": "cep.LocalFiles",
        "spark.local.dir": scratch,
        "spark.sql.warehouse.dir": f"{scratch}/warehouse",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(partitions),
        "spark.sql.sources.parallelPartitionDiscovery.threshold": "1000000",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
        # few rows with large payloads: what generated code would save, generating it costs a hundredfold
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.python.daemon.module": "cep.job.workers.daemon",
        # by default mappers get an environment that matchers do not get, and so a daemon of their own
        "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "false",
        "spark.sql.streaming.stateStore.providerClass": f"{_STATE}.state.RocksDBStateStoreProvider",
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.streaming.checkpointFileManagerClass": (
            f"{_STATE}.checkpointing.FileSystemBasedCheckpointFileManager"
        ),
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
        "spark.sql.streaming.queryEvolution.enableSourceEvolution": "true",
        "spark.sql.streaming.offsetLog.formatVersion": "2",
        # Spark 4.2.0 leaves the number of partitions out of such a log (SPARK-59919), and this check, which
        # is for an offline tool that is not used here, then fails on every batch that was begun and not ended
        "spark.sql.streaming.checkUnfinishedRepartitionOnRestart": "false",
        **UNREAD,
        "spark.sql.streaming.metricsEnabled": "false",
        "spark.sql.streaming.numRecentProgressUpdates": "10",
        # the log of files read grows for ever and is rewritten whole each time
        "spark.sql.streaming.fileSource.log.compactInterval": str(COMPACTED),
    }


def alone(cores: int) -> dict[str, str]:
    """The settings of a session on this machine, which nothing else reaches."""
    return {
        "spark.master": f"local[{cores}]",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }


def options(folder: StateFolder) -> tuple[str, ...]:
    """Options of the JVM: a heap collected by one thread, and the quick compiler only, for it does little.

    What is new in the heap is collected before it has touched much memory. There is room from the beginning
    for what stays, and for classes: a JVM collects all garbage before it makes room, and room that it never
    touches costs nothing.
    """
    return (
        *("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"),
        *("-Xms144m", "-Xmn32m", "-XX:MetaspaceSize=160m"),
        *(f"-Djava.io.tmpdir={folder.scratch.absolute()}", "-Duser.timezone=UTC"),
        f"-Dlog4j2.configurationFile={_log4j(folder).absolute().as_uri()}",
    )


def _log4j(folder: StateFolder) -> Path:
    return folder.scratch / "log4j2.properties"


@contextmanager
def running(
    folder: StateFolder,
    partitions: int,
    cores: int,
    log: int,
    environment: Mapping[str, str],
    java: Callable[[subprocess.Popen[bytes]], None] = lambda _: None,
    machines: Machines | None = None,
) -> Iterator[SparkSession]:
    """A session on `cores` cores, whose JVM writes what it prints to the descriptor `log`.

    The cores are this machine's, or a cluster's if `machines` names a master; the session does not wait for
    its executors.

    Signals to this process's group do not reach the JVM, which has a session of its own. `java` is called
    with its process as soon as there is one; it has ended when the block has. Changes this process's
    environment where Spark can be told things in no other way. Raises OutsideError without a Java that will
    do, or when the JVM does not start.
    """
    program = require_java(environment)
    folder.empty_scratch()
    logs = folder.logs.absolute()
    _log4j(folder).write_text(_LOG4J.format(folder=logs), "utf-8")
    for name in ("SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_GATEWAY_PORT", "SPARK_REMOTE", "SPARK_MASTER"):
        os.environ.pop(name, None)  # of another Spark on this machine
    machines = machines or Machines()
    place = clustered(machines, cores, (LOCAL_FILES, *_jars(folder))) if machines.master else alone(cores)
    os.environ["SPARK_LOCAL_IP"] = place["spark.driver.host"]
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["PYSPARK_PYTHON"] = machines.python or sys.executable

    told = {**SPARING, **machines.conf, **place, **settings(folder, partitions)}
    classes = classes_of(folder)
    archive, listed = class_archive(program, classes, environment), folder.scratch / "classes"
    more = () if archive is None else archive.options(listed)
    line = command(program, classes, (*options(folder), *more), told)
    gateway = launched(line, log, logs / "spark.log", java)
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    try:
        # keys do not stand on the command line, which others on this machine see
        told |= {} if folder.bucket is None else folder.bucket.spark()
        conf = SparkConf(loadDefaults=False).setAll(list(told.items()))
        with warming.state_library(gateway):
            context = SparkContext(conf=conf, gateway=gateway)
        _end_without_a_word(context._accumulatorServer)
        spark = SparkSession(context)
        # those of a cluster may be long in coming: they are warmed when they are looked at
        with nullcontext() if machines.master else warming.workers(spark, cores):
            try:
                with made_later(archive, listed, logs / "class-archive.log", java):
                    yield spark
            finally:
                with suppress(Py4JError, OSError):  # a JVM that is gone
                    spark.stop()
    finally:
        with suppress(Py4JError, OSError):
            gateway.shutdown()
        SparkContext._gateway = SparkContext._jvm = None
        _leave(gateway.proc)


def classes_of(folder: StateFolder) -> str:
    """The classpath of the JVM of a job with this state folder, which may not be there yet."""
    return classpath(_pyspark(), _jars(folder))


def _jars(folder: StateFolder) -> list[Path]:
    """The jars that Spark needs besides its own: for topics, and for a state in a bucket."""
    needed = (KAFKA,) if folder.bucket is None else (KAFKA, S3)
    return [path for of in needed for path in sorted((of / "jars").glob("*.jar"))]


def _pyspark() -> Path:
    """The folder of the package pyspark, found without importing it."""
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        raise OutsideError("there is no pyspark in this Python", "pip install pyspark")
    return Path(found.origin).parent


def _end_without_a_word(server: BaseServer) -> None:
    """Has the server of Spark's accumulators print nothing when Java ends, which is told elsewhere."""
    shown = server.handle_error

    def told(request: Any, address: Any) -> None:
        if not isinstance(sys.exception(), EOFError | ConnectionError):
            shown(request, address)

    server.handle_error = told  # type: ignore[method-assign, assignment]


def _leave(java: subprocess.Popen[bytes]) -> None:
    """Has the JVM end, which it does when its standard input does."""
    if java.stdin is not None:
        with suppress(OSError):
            java.stdin.close()
    try:
        java.wait(_LEAVING)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(java.pid, signal.SIGKILL)
        java.wait()
