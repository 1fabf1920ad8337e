"""The JVM that Spark runs in, started without Spark's scripts.

`spark-submit` asks a first JVM how to start the second, and sets SPARK_HOME, for which Spark's workers read
pyspark from a zip file without bytecode: half a second for each process that imports it. So this module
starts the JVM as `spark-submit` would, which a test compares.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cep.errors import JAVA_ENDED, OutsideError

if TYPE_CHECKING:
    from py4j.clientserver import ClientServer  # type: ignore[import-untyped]

_OPENED = (
    *("lang", "lang.invoke", "lang.reflect", "io", "net", "nio", "util", "util.concurrent"),
    "util.concurrent.atomic",
)
_OPTIONS = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    "--add-modules=jdk.incubator.vector",
    *(f"--add-opens=java.base/java.{package}=ALL-UNNAMED" for package in _OPENED),
    "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.cs=ALL-UNNAMED",
    "--add-opens=java.base/sun.security.action=ALL-UNNAMED",
    "--add-opens=java.base/sun.util.calendar=ALL-UNNAMED",
    "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
    "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED",
    "-Dderby.connection.requireAuthentication=false",
)
"""Options that Spark's launcher gives every JVM (org.apache.spark.launcher.JavaModuleOptions)."""

LOCAL_FILES = Path(__file__).parent / "local_files" / "local-files.jar"
"""One class, `cep.LocalFiles`, whose source lies beside it (decision 37)."""

_POLL = 0.02


def classpath(spark: Path, more: Iterable[Path] = ()) -> str:
    """The classpath of the JVM; `spark` is the folder of the package pyspark, `more` are jars behind it."""
    jars = spark / "jars"
    # the launcher puts this jar before the others
    first = sorted(jars.glob("slf4j-api-*.jar"))
    return os.pathsep.join(map(str, (*first, LOCAL_FILES, jars / "*", *more)))


def command(java: Path, classes: str, options: Sequence[str], settings: Mapping[str, str]) -> list[str]:
    """The command line of the JVM, with that classpath."""
    told = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    main = ["org.apache.spark.deploy.SparkSubmit", *told, "pyspark-shell"]
    return [str(java), "-cp", classes, "-Xmx1g", *options, *_OPTIONS, *main]


def launched(
    line: Sequence[str],
    log: int,
    path: Path,
    started: Callable[[subprocess.Popen[bytes]], None] = lambda _: None,
) -> ClientServer:
    """Py4J's gateway to a JVM that is started by a command line and prints to the descriptor `log` of a path.

    The JVM ends when this process does: it waits for the end of its standard input. Signals to this process's
    group do not reach it, since it has a session of its own. `started` is called with its process at once.
    Raises OutsideError if it ends before it listens; it has ended, too, where anything else is raised.
    """
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "listening"
        environment = {
            **os.environ,
            "PYTHONHASHSEED": "0",  # of workers, so that all of them hash alike
            "SPARK_CONNECT_MODE": "0",
            "_PYSPARK_DRIVER_CONN_INFO_PATH": str(told),
        }
        process = subprocess.Popen(
            line, stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment, start_new_session=True
        )
        try:
            started(process)
            return _connected(process, told, path)
        except BaseException:
            process.kill()
            process.wait()
            raise


def _connected(process: subprocess.Popen[bytes], told: Path, path: Path) -> ClientServer:
    """The gateway to a JVM that writes to the file `told` where it listens."""
    # what the query needs is imported while the JVM begins, and so costs no time by the clock
    from pyspark.java_gateway import launch_gateway
    from pyspark.serializers import UTF8Deserializer, read_int

    while not told.exists():
        if process.poll() is not None:
            raise OutsideError("Java did not start Spark", f"see {path}", JAVA_ENDED)
        time.sleep(_POLL)
    with told.open("rb") as file:
        port = read_int(file)  # type: ignore[no-untyped-call]
        secret = UTF8Deserializer().loads(file)  # type: ignore[no-untyped-call]
    # the door that pyspark has for a JVM that somebody else has started
    os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"] = str(port), secret
    try:
        gateway = launch_gateway()  # type: ignore[no-untyped-call]
    finally:
        del os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"]
    gateway.proc = process  # keeps its standard input open
    return gateway
