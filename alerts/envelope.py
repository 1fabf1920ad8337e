"""The body of a webhook: a CloudEvents 1.0 event in structured JSON with an alert, or several, as its data.

https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from alerts.notation import plain

_quoted = json.JSONEncoder(ensure_ascii=False).encode

CONTENT_TYPE = "application/cloudevents+json; charset=utf-8"
DATA_TYPE = "application/json"
EVENT_TYPE = "cep.alert.v1"
GROUP_TYPE = "cep.alerts.v1"

# CloudEvents 1.0.2, type system: what a String must not contain; C0, C1, and noncharacters
_FORBIDDEN = {
    **{code: quote(chr(code)) for code in (*range(0x20), *range(0x7F, 0xA0), *range(0xFDD0, 0xFDF0))},
    **{plane << 16 | end: quote(chr(plane << 16 | end)) for plane in range(17) for end in (0xFFFE, 0xFFFF)},
    **dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}"),
}


def cloud_event(body: str, facts: Mapping[str, Any] | None = None) -> bytes:
    """The event that carries an alert, given as its JSON text: equal bytes for equal text. Who has read the
    text already gives what it says.

    `id` is the alert's, `source` is /cep/PACK/RULE, `subject` the key (absent without one), `time` the
    alert's; `data` is the text itself.
    """
    alert = facts or json.loads(body)
    about = subject(alert["key"])
    said = f'"subject":{_quoted(about)},' if about else ""
    head = f'{{"specversion":"1.0","id":{_quoted(alert["id"])},"type":"{EVENT_TYPE}",'
    head += f'"source":{_quoted(source(alert["pack"], alert["rule"]))},{said}"time":"{alert["time"]}",'
    return f'{head}"datacontenttype":"{DATA_TYPE}","data":{body}}}'.encode()


def alert_attributes(alert: Mapping[str, Any]) -> dict[str, str]:
    """The attributes of the event that carries an alert."""
    attributes = {
        "specversion": "1.0",
        "id": alert["id"],
        "type": EVENT_TYPE,
        "source": source(alert["pack"], alert["rule"]),
        "subject": subject(alert["key"]),
        "time": alert["time"],
        "datacontenttype": DATA_TYPE,
    }
    if not attributes["subject"]:
        del attributes["subject"]
    return attributes


def group_event(id_: str, receiver: str, bodies: Sequence[str], count: int) -> bytes:
    """The event that carries several alerts, given as their JSON texts, oldest first: equal bytes for equal
    texts. `data` is what `group_data` gives."""
    attributes = group_attributes(id_, receiver, json.loads(bodies[-1]))
    head = json.dumps(attributes, ensure_ascii=False, separators=(",", ":"))
    return f'{head[:-1]},"data":{group_data(id_, bodies, count)}}}'.encode()


def group_attributes(id_: str, receiver: str, newest: Mapping[str, Any]) -> dict[str, str]:
    """The attributes of the event that carries several alerts.

    `id` is the notification's, `source` is /cep/notifications/RECEIVER, `time` that of the newest alert.
    """
    return {
        "specversion": "1.0",
        "id": id_,
        "type": GROUP_TYPE,
        "source": f"/cep/notifications/{quote(receiver, safe='')}",
        "time": newest["time"],
        "datacontenttype": DATA_TYPE,
    }


def group_data(id_: str, bodies: Sequence[str], count: int) -> str:
    """Several alerts as one JSON object: `count` of all, `more` of those that are not among `alerts`, and the
    texts of these as they are."""
    head = f'{{"id":"{id_}","count":{count},"more":{count - len(bodies)},"alerts":['
    return f"{head}{','.join(bodies)}]}}"


@lru_cache(maxsize=4096)
def source(pack: str, rule: str) -> str:
    """The URI reference of a rule, its parts percent-encoded."""
    return f"/cep/{quote(pack, safe='')}/{quote(rule, safe='')}"


def subject(key: dict[str, object]) -> str:
    """The key's values as summaries show them; several are joined by `/`, with `/` and `%` in them encoded.

    Characters that CloudEvents does not allow in a string are percent-encoded.
    """
    values = [plain(value) for value in key.values()]
    if len(values) > 1:
        values = [value.replace("%", "%25").replace("/", "%2F") for value in values]
    text = "/".join(values)
    return text if text.isprintable() else text.translate(_FORBIDDEN)
