"""`--events STREAM=kafka://HOST:PORT/TOPIC`: a topic in the place of files, in words as `--feed` has them."""

from __future__ import annotations

import json
from collections.abc import Sequence

from cep.cli.failure import UsageError

SCHEME = "kafka://"
_WRITTEN = "write kafka://HOST:PORT/TOPIC, further hosts and topics behind commas"


def with_topics(options: Sequence[str], named: dict[str, list[str]]) -> list[str]:
    """The options of `--feed` with those for streams whose events are named as a topic; these leave `named`.

    What an option says of such a stream holds for its topic. Raises UsageError.
    """
    found = list(options)
    for stream, words in list(named.items()):
        if not any(word.startswith(SCHEME) for word in words):
            continue
        if len(words) > 1:
            raise UsageError(f"--events {stream}: a topic stands alone", _WRITTEN)
        del named[stream]
        keys = _keys(words[0])
        for place, option in enumerate(found):
            name, equals, rest = option.partition("=")
            if equals and name.strip() == stream:
                inner = rest.strip().removeprefix("{").removesuffix("}") if rest.strip()[:1] == "{" else rest
                found[place] = f"{stream}={inner.rstrip().removesuffix(',')}, {keys}"
                break
        else:
            found.append(f"{stream}={keys}")
    return found


def _keys(word: str) -> str:
    servers, _, topics = word.removeprefix(SCHEME).partition("/")
    if not servers or not topics:
        raise UsageError(f"{word} names no {'topic' if servers else 'broker'}", _WRITTEN)
    names = topics.split(",")
    said = f"topic={json.dumps(topics)}" if len(names) == 1 else f"topics={json.dumps(names)}"
    return f'source="kafka", servers={json.dumps(servers)}, {said}'
