"""Records with the ids of their schemas are read by what a registry says, which is asked once for each."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import fastavro
import pytest
from broker import Secured
from decoding import BASE, stream_of
from schema_events import events
from schema_registry import SchemaRegistry, guid_of, serving
from test_by_schema import decoded
from test_protobuf_values import THREE, compiled, made

from cep.config.registries import check_registry
from cep.decode import FeedFormat
from cep.decode.by_schema import registry as client
from cep.decode.by_schema.registry import Client
from cep.decode.formats import OF_REGISTRY, Registry, Schemas
from cep.errors import ConfigurationError, OutsideError
from cep.secrets import Secret
from cep.sources.kafka.checks import option_mistakes
from cep.sources.kafka.cluster import Cluster, Topics
from cep.sources.kafka.kafka import Kafka
from cep.sources.source import Feed, Options
from rules.source import SourceFile, Span
from rules.types import Scalar

pytestmark = pytest.mark.slow

SPAN = Span(SourceFile("job.toml", "registry"), 0, 8)


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[SchemaRegistry]:
    monkeypatch.setattr(client, "_PAUSES", (0.01,))
    with serving(SchemaRegistry()) as one:
        yield one


def record(*fields: tuple[str, Any], name: str = "R", more: Mapping[str, Any] | None = None) -> str:
    own = [{"name": one, "type": type_} | dict((more or {}).get(one, {})) for one, type_ in fields]
    return json.dumps({"type": "record", "name": name, "fields": own})


def avro(id_: int, schema: str, **values: Any) -> bytes:
    out = io.BytesIO(b"\x00" + id_.to_bytes(4, "big"))
    out.seek(5)
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(schema)), {**BASE, **values})
    return out.getvalue()


def feed_of(registry: SchemaRegistry, format_: str = "avro", **more: Any) -> FeedFormat:
    kind: Any = format_
    return FeedFormat(format=kind, schemas=Schemas(registry=Registry(registry.address), **more))


EID_AT = (("eid", "string"), ("at", "string"))


def test_each_record_is_read_by_its_own_schema_and_each_is_asked_for_once(registry: SchemaRegistry) -> None:
    old = record(*EID_AT, ("n", "int"))
    new = record(("more", ["null", "string"]), ("n", ["null", "long"]), *EID_AT)
    ids = registry.add(old), registry.add(new)
    values = [
        avro(ids[0], old, n=1), avro(ids[1], new, n=2, more="x"), avro(ids[0], old, n=3),
        avro(ids[1], new, n=None, more=None), avro(9, old, n=5), b"{}", b"\x00\x00", avro(9, old, n=5),
    ]  # fmt: skip
    stream, feed = stream_of({"n": Scalar.LONG}, ("n",)), feed_of(registry)
    found = decoded(stream, feed, values)
    assert found.events.table.column("n").to_pylist() == [1, 2, 3, None]
    assert found.events.table.column("@offset").to_pylist() == [0, 1, 2, 3]
    none = f"schema 9: the registry {registry.address} has no schema 9"
    no_id = "has no id of a schema: a zero byte and four more before it, or the header __value_schema_id"
    assert [(one.offset, one.reason) for one in found.dead] == [(4, none), (5, no_id), (6, no_id), (7, none)]
    assert decoded(stream, feed, values).dead == found.dead
    assert sorted(registry.asked) == ["/schemas/ids/1", "/schemas/ids/2", "/schemas/ids/9"]


def test_an_id_that_a_header_brought_is_that_of_the_same_schema(registry: SchemaRegistry) -> None:
    schemas = [record(*EID_AT, ("n", "int")), record(("n", ["null", "long"]), *EID_AT)]
    ids = [registry.add(one) for one in schemas]

    def headed(id_: int, value: bytes) -> bytes:
        return b"\x01" + guid_of(id_).bytes + value[5:]

    plain = [avro(ids[n % 2], schemas[n % 2], n=n) for n in range(8)]
    mixed = [headed(ids[n % 2], one) if n % 3 else one for n, one in enumerate(plain)]
    stream, feed = stream_of({"n": Scalar.LONG}, ("n",)), feed_of(registry)
    assert decoded(stream, feed, mixed).events.table.equals(decoded(stream, feed, plain).events.table)
    unknown = decoded(stream, feed, [headed(9, plain[0]), headed(1, b"")[:12]])
    assert [one.reason for one in unknown.dead] == [
        f"schema {guid_of(9)}: the registry {registry.address} has no schema {guid_of(9)}",
        "has no id of a schema: a zero byte and four more before it, or the header __value_schema_id",
    ]


def test_what_was_not_registered_is_asked_for_again_later(
    registry: SchemaRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = record(*EID_AT)
    stream, feed = stream_of({}), feed_of(registry)
    assert len(decoded(stream, feed, [avro(1, schema)]).dead) == 1
    registry.add(schema)
    assert len(decoded(stream, feed, [avro(1, schema)]).dead) == 1
    monkeypatch.setattr("cep.decode.by_schema.registered._AGAIN", -1.0)
    assert not decoded(stream, feed, [avro(1, schema)]).dead


def test_a_reader_of_a_file_has_defaults_and_other_names(registry: SchemaRegistry) -> None:
    writer = record(*EID_AT, ("old", "int"))
    id_ = registry.add(writer)
    reader = record(
        *EID_AT,
        ("n", "long"),
        ("kind", "string"),
        more={"n": {"aliases": ["old"]}, "kind": {"default": "none"}},
    )
    stream = stream_of({"n": Scalar.LONG, "kind": Scalar.STRING})
    found = decoded(stream, feed_of(registry, text=reader.encode()), [avro(id_, writer, old=7)])
    assert found.events.table.select(["n", "kind"]).to_pylist() == [{"n": 7, "kind": "none"}]


def test_types_of_other_subjects_are_followed(registry: SchemaRegistry) -> None:
    registry.add('{"type": "enum", "name": "acme.Level", "symbols": ["LOW", "HIGH"]}', subject="level")
    registry.add(
        record(("level", "acme.Level"), name="acme.Card"), subject="card", references=[("l", "level", 1)]
    )
    schema = record(*EID_AT, ("card", "acme.Card"))
    whole = record(
        *EID_AT,
        (
            "card",
            json.loads(
                record(("level", {"type": "enum", "name": "L", "symbols": ["LOW", "HIGH"]}), name="C")
            ),
        ),
    )
    id_ = registry.add(schema, references=[("c", "card", 1), ("l", "level", 1)])
    feed = replace(feed_of(registry), fields=(("level", "card"),))
    found = decoded(stream_of({}), feed, [avro(id_, whole, card={"level": "HIGH"})])
    assert not found.dead
    registry.add(schema, references=[("c", "gone", 1)])
    found = decoded(stream_of({}), feed, [avro(id_ + 1, whole, card={"level": "HIGH"})])
    assert "has no version 1 of subject gone" in found.dead[0].reason


def test_protobuf_says_which_message_of_its_file_it_is(registry: SchemaRegistry, tmp_path: Path) -> None:
    text = THREE.replace('"proto3";', '"proto3"; import "level.proto";').replace(
        "enum Level { LOW = 0; HIGH = 5; }", ""
    )
    registry.add('syntax = "proto3"; enum Level { LOW = 0; HIGH = 5; }', "PROTOBUF", "level")
    id_ = registry.add(text, "PROTOBUF", references=[("level.proto", "level", 1)])
    head, outer = b"\x00" + id_.to_bytes(4, "big"), made(compiled(tmp_path, THREE, "Outer"), "Outer", count=5)
    feed = replace(feed_of(registry, "protobuf"), constants=(("eid", "e"), ("at", BASE["at"])))
    values = [
        head + b"\x00" + outer,
        head + b"\x02\x00" + outer,
        head + b"\x04\x00\x00\x08\x03",
        head + b"\x02\x02",
        b"\x01" + guid_of(id_).bytes + b"\x04\x00\x00\x08\x03",
    ]
    stream = stream_of({"count": Scalar.LONG}, ("count",), id_=None)
    found = decoded(stream, feed, [*values, head + b"\x02\x08", head + b"\x80", head])
    assert found.events.table.column("count").to_pylist() == [5, 5, 3, None, 3]
    assert [one.reason for one in found.dead] == [
        f"schema {id_} has no message at [4]",
        "does not say which message of its schema it is",
        "does not say which message of its schema it is",
    ]


def test_with_the_schema_of_a_file_messages_need_no_registry(registry: SchemaRegistry) -> None:
    written = events(Random(3), "protobuf", 5)
    assert written.feed.schemas is not None
    feed = replace(written.feed, schemas=replace(written.feed.schemas, registry=Registry(registry.address)))
    found = decoded(written.stream, feed, [b"\x00\x00\x00\x00\x07\x00" + one for one in written.records])
    assert not found.dead
    assert found.events.table.equals(decoded(written.stream, written.feed, written.records).events.table)
    assert not registry.asked


@pytest.mark.parametrize(
    ("schema", "kind", "reason"),
    [
        ("{}", "JSON", "schema 1 is of JSON, and the feed's format is AVRO"),
        ('"money"', "AVRO", "schema 1 names a type that it does not define: money"),
        (record(("eid", "string")), "AVRO", "lacks the required field `at`: the schema has no field `at`"),
    ],
)
def test_a_schema_that_cannot_be_used_makes_dead_letters(
    registry: SchemaRegistry, schema: str, kind: str, reason: str
) -> None:
    registry.add(schema, kind)
    found = decoded(stream_of({}), feed_of(registry), [b"\x00\x00\x00\x00\x01\x02a"])
    assert [one.reason for one in found.dead] == [reason]


def test_a_registry_that_fails_for_a_while_is_waited_for(registry: SchemaRegistry) -> None:
    schema = record(*EID_AT)
    registry.add(schema)
    registry.failing += [503, 500, 429]
    assert not decoded(stream_of({}), feed_of(registry), [avro(1, schema)]).dead
    assert len(registry.asked) == 4


def test_no_record_is_a_dead_letter_since_the_registry_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_PAUSES", (0.01,))
    with serving(SchemaRegistry()) as gone:
        pass
    one = Client(Registry(gone.address), patience=0.05)
    with pytest.raises(OutsideError, match="does not answer") as raised:
        one.schema(1)
    assert raised.value.code == "CEP0875"
    assert raised.value.help


def test_users_and_certificates_are_asked_for(tmp_path: Path) -> None:
    certificate = Secured().certificate(tmp_path)

    def asking(**given: str) -> Client:
        options = tuple((OF_REGISTRY + name, Secret(value, tmp_path)) for name, value in given.items())
        return Client(Registry(there.address, options), {"PASSWORD": "secret"}, 0.0)

    ca = {"ssl.ca.location": str(certificate)}
    with serving(SchemaRegistry(user=("ann", "secret")), certificate) as there:
        there.add(record(*EID_AT))
        assert asking(username="ann", password="${PASSWORD}", **ca).schema(1).kind == "AVRO"
        with pytest.raises(OutsideError, match="HTTP 401") as refused:
            asking(username="ann", password="wrong", **ca).schema(1)
        assert refused.value.code == "CEP0876"
        assert "wrong" not in str(refused.value)
        with pytest.raises(OutsideError, match="certificate verify failed"):
            asking(username="ann", password="${PASSWORD}").schema(1)
        with pytest.raises(ConfigurationError, match="GONE is not set"):
            asking(username="ann", password="${GONE}", **ca)
        with pytest.raises(ConfigurationError, match="cannot be used"):
            asking(**{"ssl.ca.location": str(tmp_path / "gone.pem")})


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ({"password": "a", "username": "b"}, "CEP0735", "stands in the job file"),
        ({"username": "a"}, "CEP0752", "needs `schema.registry.password`"),
        ({"ssl.key.location": "a"}, "CEP0752", "needs `schema.registry.ssl.certificate.location`"),
        ({"user": "a"}, "CEP0751", "no consumer of this program has an option"),
    ],
)
def test_options_of_a_registry_are_looked_at(given: dict[str, str], code: str, said: str) -> None:
    options = {OF_REGISTRY + name: value for name, value in given.items()}
    (one,) = option_mistakes(options, Options(Path(), lambda *_: SPAN))
    assert (one.code, said in one.message) == (code, True)
    assert one.help


def test_a_start_tells_of_a_registry_that_is_none(registry: SchemaRegistry) -> None:
    def codes(format_: FeedFormat) -> list[str]:
        source = Kafka(Cluster("127.0.0.1:1", ()), Topics(("t",), ""))
        options = Options(Path(), lambda *_: SPAN)
        return [one.code for one in check_registry(Feed("s", source, format_), options)]

    assert codes(FeedFormat(format="json")) == codes(feed_of(registry)) == []
    registry.failing += [403]
    assert codes(feed_of(registry)) == ["CEP0876"]
    gone = Registry("http://127.0.0.1:1")
    assert codes(FeedFormat(format="avro", schemas=Schemas(registry=gone))) == ["CEP0875"]
