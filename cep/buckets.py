"""The state of a job in a bucket, of a store that speaks S3's protocol: Amazon's, MinIO, Ceph, R2 and others.

Python reads and writes it by universal_pathlib and s3fs, as paths; Spark by Hadoop's S3A. A store keeps an
object whole or not at all, shows it to all at once, and lets one of several that create it win: nothing more
is asked of it. Neither library is imported before there is a bucket.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from cep.errors import ConfigurationError

if TYPE_CHECKING:
    from upath import UPath

    from cep.files import AnyPath

NO_STORE = "CEP0757"
NO_LIBRARY = "CEP0758"
UNFIT = "CEP0759"
_CONNECT, _READ = 15, 60
"""Seconds for a store to take a connection, and to say something more."""
_ATTEMPTS, _OF_JOB = 5, 10
"""For each request. Where nothing listens, it fails after some 8 seconds, that of a running job after a
minute: the pauses between them double, up to 20 seconds."""
AT_ONCE = 16
"""Objects that are asked for at a time: a store takes its time to answer, and answers many at once."""
SMALL = 1 << 20
"""Bytes of the largest object that is asked for beside others: a larger one takes as long as its bytes do."""
_CONNECTIONS = 2 * AT_ONCE
_CLIENT = ("aiobotocore", "botocore", "s3fs", "aiohttp")
_OF_OBJECTS = (FileNotFoundError, FileExistsError, PermissionError)
_HADOOP = "spark.hadoop.fs.s3a."


@dataclass(frozen=True, slots=True)
class Bucket:
    """A place in a bucket, `s3a://NAME/PREFIX` without a slash behind it, and the keys to it.

    What is empty is left to Amazon's chain on each machine: environment, its files, the machine's role.
    `endpoint` is the store's address, "" that of Amazon in the region. `attempts` are those of a request.
    """

    url: str
    endpoint: str = ""
    region: str = ""
    access_key: str = field(default="", repr=False)
    secret_key: str = field(default="", repr=False)
    attempts: int = _ATTEMPTS

    @property
    def path(self) -> UPath:
        """The place as a path. Raises ConfigurationError where the libraries are missing."""
        try:
            import s3fs  # noqa: F401
            from upath import UPath
        except ImportError as error:
            raise ConfigurationError(
                f"a state in a bucket needs a library that is not installed: {error}",
                "pip install 'standing-rules[s3]'",
                NO_LIBRARY,
            ) from error
        given: dict[str, Any] = {
            "key": self.access_key,
            "secret": self.secret_key,
            "endpoint_url": self.endpoint,
            "client_kwargs": {"region_name": self.region} if self.region else {},
            "config_kwargs": self._client(),
        }
        found: UPath = UPath(
            "s3" + self.url.removeprefix("s3a"),
            use_listings_cache=False,  # what others write is seen at once
            protocol="s3",
            **{name: value for name, value in given.items() if value},
        )
        return found

    @property
    def patient(self) -> Bucket:
        """The same for a job that runs, which had better wait for a store than end."""
        return replace(self, attempts=_OF_JOB)

    def _client(self) -> dict[str, object]:
        style = {"s3": {"addressing_style": "path"}} if self.endpoint else {}
        return {
            "connect_timeout": _CONNECT,
            "read_timeout": _READ,
            "max_pool_connections": _CONNECTIONS,
            "retries": {"mode": "standard", "total_max_attempts": self.attempts},
            **style,
        }

    def spark(self) -> Mapping[str, str]:
        """Settings of Spark for the store; with the keys, so that they may stand on no command line."""
        given = {
            "endpoint": self.endpoint,
            "endpoint.region": self.region,
            "path.style.access": "true" if self.endpoint else "",
            "access.key": self.access_key,
            "secret.key": self.secret_key,
        }
        fixed = {
            "impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
            # what it would look for first, Spark knows: its files aside have names of their own
            "performance.flags": "create,delete,mkdir",
            "input.stream.type": "classic",
            # Amazon's other client, with Spark's version of netty, takes `100 Continue` for the answer
            "optimized.copy.from.local.enabled": "false",
            "connection.establish.timeout": f"{_CONNECT}s",
            "connection.timeout": f"{_READ}s",
        }
        return {f"{_HADOOP}{name}": value for name, value in {**fixed, **given}.items() if value}

    def trouble(self) -> str | None:
        """The sentence that says why the bucket cannot be read; None if it can be."""
        path = replace(self, attempts=2).path
        try:
            path.fs.call_s3("list_objects_v2", Bucket=urlsplit(self.url).netloc, MaxKeys=1)
        except Exception as error:
            return said_of(self.url, error)
        return None


class StoreError(OSError):
    """A store that did not do what it was asked, or did not answer; `strerror` is a sentence."""


def said_of(url: str, error: BaseException) -> str:
    """A sentence about a place in a bucket, of what a store's client says."""
    match error:
        case FileNotFoundError():
            return f"the bucket of {url} is not there"
        case PermissionError():
            return f"the bucket of {url} may not be read with these keys"
        case TimeoutError():
            return silent(url)
        case StoreError():
            return str(error.strerror)
    kind = type(error).__name__
    if kind in ("EndpointConnectionError", "ConnectTimeoutError", "ReadTimeoutError"):
        return silent(url)
    if kind == "NoCredentialsError":
        return f"the bucket of {url} needs keys, and there are none"
    return f"the bucket of {url} cannot be read: {kind}: {' '.join(str(error).split())[:200]}"


def silent(url: str) -> str:
    """The sentence about the store of a place in a bucket that does not answer."""
    return f"the store of {url} does not answer"


def of_store(error: BaseException) -> bool:
    """True for an error of a store or its client."""
    return isinstance(error, StoreError) or type(error).__module__.partition(".")[0] in _CLIENT


@contextmanager
def store_errors(path: AnyPath) -> Iterator[None]:
    """Errors of a client within become StoreErrors with a sentence, and `path` as their place.

    The sentence names the bucket alone: it is the same for all its objects. Errors about an object that is
    there, is not there or is not for us keep their kind.
    """
    try:
        yield
    except Exception as error:
        if not of_store(error) and not (isinstance(error, OSError) and error.filename is None):
            raise
        kind = type(error) if isinstance(error, _OF_OBJECTS) else StoreError
        raise kind(None, said_of(f"s3://{path.drive}", error), str(path)) from error
