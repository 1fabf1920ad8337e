"""Values of keys of job.toml that cannot be used, and what is told of each."""

from __future__ import annotations

VALUES: dict[str, list[tuple[str, str, str, str]]] = {
    # by key: a value that cannot be used; code, part of the message, part of the help
    "[job] name": [
        ('""', "CEP0706", "it is empty", "between the quotes"),
        ('"a\\nb"', "CEP0706", "a sign that cannot be seen", "remove it"),
        (f'"{"x" * 101}"', "CEP0706", "more than 100 characters", "shorten it"),
    ],
    "[job] packs": [
        ('""', "CEP0706", "it is empty", ""),
        ('"~/packs"', "CEP0706", "`~` is not replaced in a path", "write the path itself"),
        ('"${HOME}/packs"', "CEP0706", "`${...}` is not replaced in a path", ""),
        ('"a\\u0000b"', "CEP0706", "a sign that cannot be seen", ""),
    ],
    "[job] state": [
        ('" "', "CEP0706", "it is empty", ""),
        ('"~"', "CEP0706", "`~` is not replaced", ""),
        ('"hdfs://head/fraud"', "CEP0706", "not under `hdfs:`", "s3a://BUCKET/PREFIX/"),
        ('"s3a://fraud/"', "CEP0706", "does not fill a whole bucket", "s3a://fraud/fraud/"),
        ('"s3a:///fraud/"', "CEP0706", "names no bucket", "s3a://BUCKET/PREFIX/"),
        ('"s3a://states/../fraud"', "CEP0706", "names no bucket", ""),
        ('"s3a://states/fraud/"', "CEP0759", "an outbox that other machines reach", "postgresql://"),
    ],
    "[job] local": [
        ('""', "CEP0706", "it is empty", ""),
        ('"~/local"', "CEP0706", "`~` is not replaced", ""),
    ],
    "[s3] endpoint": [
        ('""', "CEP0706", "a store's address", "https://minio:9000"),
        ('"minio:9000"', "CEP0706", "https:// or http://, a host", ""),
        ('"https://user@minio"', "CEP0706", "a store's address", ""),
    ],
    "[s3] region": [
        ('""', "CEP0706", "it is empty", ""),
    ],
    "[s3] access_key": [
        ('""', "CEP0706", "it is empty", ""),
    ],
    "[s3] secret_key": [
        ('""', "CEP0706", "it is empty", ""),
    ],
    "[job] trigger": [
        ('""', "CEP0706", "it is empty", "write a number and a unit"),
        ('"5"', "CEP0706", "`5` is not a duration", "`500ms`"),
        ('"five minutes"', "CEP0706", "is not a duration", ""),
        ('"-1 second"', "CEP0706", "is not a duration", ""),
    ],
    "[job] shards": [
        ("0", "CEP0706", "must be at least 1", "write `shards = 16`"),
        ("4097", "CEP0706", "must be at most 4,096", "write `shards = 16`"),
        ("99999999999999999999", "CEP0706", "must be at most 4,096", ""),
    ],
    "[job] mask_key": [
        ('""', "CEP0735", "stands in the job file", "${MASK_KEY}"),
        ('"${GONE}"', "CEP0708", "GONE is not set", "export GONE"),
        ('"file:gone.key"', "CEP0708", "gone.key", ""),
    ],
    "[feeds.payment] source": [
        ('""', "CEP0706", "is `files` or `kafka` or `http`, not empty", 'write `source = "files"`'),
        ('"file"', "CEP0706", "is `files` or `kafka` or `http`, not `file`", "did you mean `files`?"),
    ],
    "[feeds.payment] path": [
        ('""', "CEP0706", "it is empty", ""),
        ('"inbox"', "CEP0706", "does not say what it holds", "write `inbox/*.jsonl` if it is a folder"),
        ('"inbox/*.txt"', "CEP0706", "does not say what it holds", "rename the files"),
        ('"inbox/**/*.csv"', "CEP0706", "folders of folders", "`inbox/*/*.jsonl`"),
        ('"inbox/[a.csv"', "CEP0706", "its `[` is never closed", ""),
        ('"inbox/{a,b.csv"', "CEP0706", "its `{` has no partner", ""),
        ('"s3://bucket/*.csv"', "CEP0706", "it is an address", "a path on this machine"),
        ('"~/inbox/*.csv"', "CEP0706", "`~` is not replaced", ""),
    ],
    "[feeds.payment] fields": [
        ('{ amount = 1 }', "CEP0705", "fields.amount` must be text", 'write `amount = "TX_AMOUNT"`'),
        ('{ amount = "" }', "CEP0706", "it is empty", ""),
    ],
    "[feeds.payment] constants": [
        ('{ a = [1] }', "CEP0705", "must be a text, a number, true, false or a time", 'write `a = "EUR"`'),
        ('{ a = { b = 1 } }', "CEP0705", "must be a text, a number", ""),
    ],
    "[feeds.payment] format": [
        ('""', "CEP0706", "it is one of json, csv, parquet", 'write `"csv"`'),
        ('"jsonl"', "CEP0706", "it is one of json, csv, parquet", "did you mean `json`?"),
    ],
    "[feeds.payment] timestamps": [
        ('""', "CEP0706", "it is one of iso", "a pattern is written"),
        ('"epoch_millis"', "CEP0706", "it is one of iso", "did you mean `epoch_ms`?"),
        ('"yyyy-MM-dd"', "CEP0706", "it is one of iso", "a pattern is written as in `%d.%m.%Y %H:%M`"),
        ('"%H:%M"', "CEP0706", "the pattern has no year", "%Y"),
        ('"%Y %Q"', "CEP0706", "no pattern that strptime can read back", ""),
    ],
    "[feeds.payment] zone": [
        ('""', "CEP0706", "it is empty", "`Europe/Berlin`"),
        ('"Berlin"', "CEP0706", "there is no such zone", "did you mean `Europe/Berlin`?"),
        ('"+25:00"', "CEP0706", "there is no such zone", ""),
        ('"../../etc/passwd"', "CEP0706", "there is no such zone", ""),
    ],
    "[feeds.payment] header": [('"no"', "CEP0705", "must be true or false", "header = false")],
    "[feeds.payment] delimiter": [
        ('""', "CEP0706", "one ASCII character", "for a tab"),
        ('";;"', "CEP0706", "one ASCII character", ""),
        ("'\"'", "CEP0706", "one ASCII character", ""),
        ('"¦"', "CEP0706", "one ASCII character", ""),
    ],
    "[feeds.order] source": [('"htp"', "CEP0706", "is `files` or `kafka` or `http`", "did you mean `http`?")],
    "[feeds.order] format": [('"csv"', "CEP0706", "what comes by POST is JSON", "remove it")],
    "[feeds.order] header": [("1", "CEP0705", "must be true or false", "write `header = false`")],
    "[feeds.order] backlog": [
        ("1000", "CEP0706", "must be at least 1,048,576", "write `backlog = 1073741824`"),
    ],
    "[feeds.refund] source": [('"kafca"', "CEP0706", "or `kafka` or `http`", "did you mean `kafka`?")],
    "[feeds.refund] servers": [
        ('""', "CEP0706", "it is empty", ""),
        ('"b1"', "CEP0706", "`b1` is no broker's host and port", '`servers = "b1:9092,b2:9092"`'),
        ('"b1:9092,b2:port"', "CEP0706", "`b2:port` is no broker's", ""),
        ('"kafka://b1:9092"', "CEP0706", "an address with a protocol", ""),
    ],
    "[feeds.refund] topic": [
        ('""', "CEP0706", "no name of a topic", ""),
        ('"pay ments"', "CEP0706", "`pay ments` is no name of a topic", "several topics: `topics`"),
        ('"pay-.*"', "CEP0706", "no name of a topic", "or `pattern`"),
    ],
    "[feeds.refund] topics": [
        ("[]", "CEP0706", "is empty", "write `topics = "),
        ('["pay ments"]', "CEP0706", "`pay ments` is no name of a topic", ""),
        ('["payments"]', "CEP0753", "`topic` and `topics` are given", "keep one of them"),
    ],
    "[feeds.refund] pattern": [
        ('""', "CEP0706", "it is empty", ""),
        ('"pay-("', "CEP0706", "no regular expression", "pay-.*"),
        ('"pay-.*"', "CEP0753", "`topic` and `pattern` are given", "keep one of them"),
    ],
    "[feeds.refund] format": [
        ('"parquet"', "CEP0706", "is one of json, csv, avro, protobuf, raw", 'write `format = "json"`'),
        ('"jsn"', "CEP0706", "is one of json, csv, avro, protobuf, raw", "did you mean `json`?"),
        ('"avro"', "CEP0765", "needs the schema of the records", 'write `schema = "payment.avsc"`, or'),
        ('"protobuf"', "CEP0765", "needs the schema of the records", 'write `schema = "payment.proto"`, or'),
    ],
    "[feeds.refund] schema": [
        ('""', "CEP0706", "it is empty", ""),
        ('"~/a.avsc"', "CEP0706", "`~` is not replaced", ""),
        ('"a.avsc"', "CEP0765", '`schema` has no effect with format "json"', 'write `format = "avro"`'),
    ],
    "[feeds.refund] message": [
        ('""', "CEP0706", "it is empty", ""),
        ('"acme.Pay"', "CEP0765", '`message` has no effect with format "json"', 'write `format = "avro"`'),
    ],
    "[feeds.refund] registry": [
        ('"registry:8081"', "CEP0706", "begins with https:// or http:// and a host", "registry:8081"),
        ('"http://a:b@registry"', "CEP0706", "it holds a user name or password", "schema.registry.password"),
        ('"http://registry?a=1"', "CEP0706", "something behind its path", ""),
        ('"http://registry:x"', "CEP0706", "it is no address", ""),
        ('"http://registry"', "CEP0765", '`registry` has no effect with format "json"', "write `format"),
    ],
    "[feeds.refund] start": [
        ('"first"', "CEP0706", "`earliest`, `latest` or a time", "a time is written"),
        ('"latst"', "CEP0706", "`earliest`, `latest` or a time", "did you mean `latest`?"),
        ('"2026-01-05"', "CEP0706", "a time with its zone", "2026-01-05T09:00:00Z"),
        ('"1960-01-05T09:00:00Z"', "CEP0706", "before 1970", "write `earliest`"),
    ],
    "[feeds.refund] header": [("true", "CEP0706", "a record of CSV has no header", "remove it")],
    "[feeds.refund] key": [('""', "CEP0706", "it is empty", "")],
    "[feeds.refund] time": [('"payload"', "CEP0706", "is `kafka`, not `payload`", 'write `time = "kafka"`')],
    "[feeds.refund] batch_records": [("0", "CEP0706", "must be at least 1", "write `batch_records")],
    "[feeds.refund] group": [('""', "CEP0706", "it is empty", "")],
    "[feeds.refund] options": [
        ('{ "schema.registry.ssl.ca.location" = "a" }', "CEP0765", "without `registry`", "or remove it"),
        ('{ "group.id" = "a" }', "CEP0750", "in no group", "remove it"),
        ('{ auto.offset.reset = "latest" }', "CEP0750", "nothing is passed over", '`start = "earliest"`'),
        ('{ "enable.auto.commit" = true }', "CEP0750", "not yet read", "remove it"),
        ('{ subscribe = "a" }', "CEP0750", "decided by the job", ""),
        ('{ "sasl.mechanisms" = "PLAIN" }', "CEP0751", "an option `sasl.mechanisms`", "`sasl.mechanism`?"),
        ('{ "security.protocol" = "TLS" }', "CEP0751", "is one of PLAINTEXT, SSL", ""),
        ('{ "fetch.max.bytes" = "1 MB" }', "CEP0751", "a whole number above 0", ""),
        ('{ "client.id" = "" }', "CEP0751", "is empty", ""),
        ('{ "client.id" = [1] }', "CEP0751", "must be text", ""),
        ('{ "ssl.ca.location" = "ca.pem" }', "CEP0752", "no effect with", '"SSL"'),
    ],
    "[outbox] url": [
        ('""', "CEP0706", "no address of a database", "write sqlite:///state/outbox.db"),
        ('"state/outbox.db"', "CEP0706", "no address of a database", ""),
        ('"mysql://host/db"', "CEP0706", "SQLite or PostgreSQL", ""),
        ('"postgres://host/db"', "CEP0706", "SQLite or PostgreSQL", "postgresql://"),
        ('"postgresql://u:p@host:port/db"', "CEP0706", "its port", ":5432"),
        ('"sqlite://"', "CEP0706", "in memory", "name a file"),
        ('"sqlite:///:memory:"', "CEP0706", "in memory", ""),
        ('"sqlite://state/outbox.db"', "CEP0706", "three slashes", "write sqlite:///state/outbox.db"),
        ('"sqlite:///state/"', "CEP0706", "it names a folder", "sqlite:///state/outbox.db"),
        ('"${GONE}"', "CEP0708", "the environment variable GONE is not set", "export GONE="),
        ('"${MYSQL}"', "CEP0709", "what `${MYSQL}` stands for: an outbox is kept", ""),
        ('"file:gone.txt"', "CEP0708", "there is no file", ""),
        ('"file:."', "CEP0708", " is a folder", "name a file in it"),
    ],
    "[[routes]] matchers": [
        ('["severity"]', "CEP0706", "`severity` is no matcher", "`severity = high`"),
        ('["rule == a"]', "CEP0706", "there is no operator `==`", "`rule = a`"),
        ('["rule =~ ("]', "CEP0706", "regular expression cannot be used", "RE2"),
        ("[7]", "CEP0705", "must be text in quotes", ""),
    ],
    "[[routes]] receivers": [
        ('["dask"]', "CEP0731", "there is no receiver `dask`", "did you mean `desk`?"),
        ('[""]', "CEP0706", "it is empty", ""),
    ],
    "[[routes]] continue": [('"yes"', "CEP0705", "must be true or false", "continue = true")],
    "[alerts] episode": [
        ('""', "CEP0706", "it is empty", "write a number and a unit"),
        ('"0s"', "CEP0706", "it is no time at all", "`1 hour`"),
        ('"an hour"', "CEP0706", "is not a duration", ""),
    ],
    "[alerts] close_quiet": [("1", "CEP0705", "must be true or false", "close_quiet = true")],
    "[record] keep": [
        ('""', "CEP0706", "is not a duration", "`30 days`"),
        ('"ever"', "CEP0706", "is not a duration", '"0" to keep none'),
        ('"-1 day"', "CEP0706", "is not a duration", "`30 days`"),
    ],
    **{
        f"[retention] {key}": [
            ('""', "CEP0706", "it is empty", "write a number and a unit"),
            ('"0 days"', "CEP0706", "it is no time at all", ""),
            ('"ever"', "CEP0706", "is not a duration", ""),
        ]
        for key in ("alerts", "deliveries", "late", "dead_letters")
    },
    "[deadletters] servers": [
        ('"b1"', "CEP0706", "is no broker's host and port", ""),
    ],
    "[deadletters] topic": [
        ('"dead letters"', "CEP0706", "is no name of a topic", "letters, digits"),
    ],
    "[deadletters] late": [
        ('".."', "CEP0706", "is no name of a topic", ""),
    ],
    "[deadletters] options": [
        ('{ acks = "1" }', "CEP0755", "when all copies have it", "remove it"),
        ('{ "client.rack" = "a" }', "CEP0751", "no producer of this program", "known here"),
        ('{ "sasl.username" = "cep" }', "CEP0752", "no effect", "SASL_SSL"),
    ],
    "[receivers.desk] kind": [
        ('""', "CEP0706", "is `console` or `webhook` or `slack`", 'write `kind = "console"`'),
        ('"web"', "CEP0706", "not `web`", "did you mean `webhook`?"),
        ('"webhook"', "CEP0704", "`url` is missing in [receivers.desk]", "https://desk.example/cep"),
        ('"slack"', "CEP0704", "`url` is missing in [receivers.desk]", 'kind "slack" needs it'),
        ('"pagerduty"', "CEP0704", "`routing_key` is missing", "${PAGERDUTY_KEY}"),
        ('"file"', "CEP0704", "`path` is missing", "alerts.jsonl"),
    ],
    "[receivers.desk] url": [
        ('""', "CEP0706", "it is empty", "https://desk.example/cep"),
        ('"desk.example"', "CEP0706", "begins with https:// or http://", ""),
        ('"ftp://desk.example"', "CEP0706", "begins with https:// or http://", ""),
        ('"https://"', "CEP0706", "and a host", ""),
        ('"https://desk.example:99999/"', "CEP0706", "it is no URL", ""),
        ('"https://desk example/"', "CEP0706", "a host", ""),
        ('"http://169.254.169.254/"', "CEP0706", "is no address of a receiver", "own address or name"),
        ('"http://[::ffff:169.254.169.254]/"', "CEP0706", "is no address of a receiver", ""),
        ('"https://desk.example/"', "CEP0734", "has no option `url`", 'to kind "webhook" and "slack"'),
        ('"${GONE}"', "CEP0734", "has no option `url`", ""),
    ],
    "[receivers.desk] secret": [
        ('""', "CEP0706", "it is empty", ""),
        ('"${GONE}"', "CEP0734", "has no option `secret`", 'kind "webhook"; kind "console" has no options'),
    ],
    "[receivers.desk] format": [
        ('"prometheus"', "CEP0706", "is `cloudevents` or `alertmanager`", "alertmanager"),
        ('"alertmanager"', "CEP0734", "has no option `format`", "webhook"),
    ],
    "[receivers.desk] routing_key": [
        ('""', "CEP0706", "it is empty", ""),
        ('"${GONE}"', "CEP0734", "has no option `routing_key`", 'kind "pagerduty"'),
    ],
    "[receivers.desk] server": [
        ('""', "CEP0706", "it is not HOST or HOST:PORT", "mail.example:587"),
        ('"smtp://mail.example"', "CEP0706", "it is not HOST or HOST:PORT", ""),
        ('"me@mail.example"', "CEP0706", "it is not HOST or HOST:PORT", ""),
        ('"mail.example:0"', "CEP0706", "it is not HOST or HOST:PORT", ""),
        ('"mail.example:99999"', "CEP0706", "it is not HOST or HOST:PORT", ""),
        ('"169.254.169.254:587"', "CEP0706", "is no address of a receiver", ""),
        ('"mail.example"', "CEP0734", "has no option `server`", 'kind "email"'),
    ],
    "[receivers.desk] tls": [
        ('"none"', "CEP0706", "is `starttls` or `tls`", ""),
        ('"tls"', "CEP0734", "has no option `tls`", 'kind "email"'),
    ],
    "[receivers.desk] user": [('""', "CEP0706", "it is empty", ""), ('"a"', "CEP0734", "no option", "email")],
    "[receivers.desk] password": [
        ('""', "CEP0706", "it is empty", ""),
        ('"${GONE}"', "CEP0734", "has no option `password`", ""),
    ],
    "[receivers.desk] sender": [
        ('"Night Desk <a@desk.example>"', "CEP0706", "it is no address of mail", "without a name"),
        ('"a@b\\nBcc: c@d.example"', "CEP0706", "it is no address of mail", ""),
        ('"desk"', "CEP0706", "it is no address of mail", ""),
        ('"a@desk.example"', "CEP0734", "has no option `sender`", ""),
    ],
    "[receivers.desk] to": [
        ("[]", "CEP0706", "is empty", ""),
        ('["desk"]', "CEP0706", "it is no address of mail", ""),
        ("[5]", "CEP0705", "must be text in quotes", 'to = ["night@desk.example"]'),
        ('["a@desk.example"]', "CEP0734", "has no option `to`", ""),
    ],
    "[receivers.desk] subject": [
        ('" "', "CEP0706", "it is empty", "or remove the line"),
        ('"{{ key }}"', "CEP0734", "has no option `subject`", ""),
    ],
    "[receivers.desk] message": [
        ('""', "CEP0706", "it is empty", "or remove the line"),
        ('"{{ key }}"', "CEP0734", "has no option `message`", '"slack" and "pagerduty" and "email"'),
    ],
    "[receivers.desk] html": [
        ('""', "CEP0706", "it is empty", ""),
        ('"<p>"', "CEP0734", "has no option `html`", 'kind "email"'),
    ],
    "[receivers.desk] path": [
        ('""', "CEP0706", "it is empty", ""),
        ('"~/alerts"', "CEP0706", "`~` is not replaced", ""),
        ('"alerts/"', "CEP0706", "it names a folder", "alerts.jsonl"),
        ('"alerts/.."', "CEP0706", "it names a folder", ""),
        ('"alerts.jsonl"', "CEP0734", "has no option `path`", 'kind "file"'),
    ],
    "[receivers.desk] rotate_mb": [
        ("0", "CEP0706", "must be at least 1", "rotate_mb = 100"),
        ("1000001", "CEP0706", "must be at most 1,000,000", ""),
        ("5", "CEP0734", "has no option `rotate_mb`", ""),
    ],
    "[receivers.desk] fsync": [
        ('"sometimes"', "CEP0706", "is `always` or `never`", ""),
        ('"never"', "CEP0734", "has no option `fsync`", ""),
    ],
    "[receivers.desk] servers": [
        ('"b1"', "CEP0706", "is no broker's host and port", 'write `servers = "b1:9092'),
        ('"kafka://b1:9092"', "CEP0706", "is an address with a protocol", ""),
        ('"b1:9092"', "CEP0734", "has no option `servers`", 'kind "kafka"'),
    ],
    "[receivers.desk] topic": [
        ('"fraud alerts"', "CEP0706", "is no name of a topic", "letters, digits"),
        ('"alerts"', "CEP0734", "has no option `topic`", 'kind "kafka"'),
    ],
    "[receivers.desk] key": [
        ('""', "CEP0706", "it is empty", "or remove the line"),
        ('"{{ key }}"', "CEP0734", "has no option `key`", 'kind "kafka"'),
    ],
    "[receivers.desk] mode": [
        ('"avro"', "CEP0706", "is `structured` or `binary`", ""),
        ('"binary"', "CEP0734", "has no option `mode`", 'kind "kafka"'),
    ],
    "[receivers.desk] options": [
        ('{ "client.id" = "a" }', "CEP0734", "has no option `options`", 'kind "kafka"'),
    ],
    "[receivers.desk] allow_private": [
        ('"yes"', "CEP0705", "must be true or false", ""),
        ("true", "CEP0734", "has no option `allow_private`", "webhook"),
    ],
    "[receivers.desk] rules": [
        ("[]", "CEP0706", "is empty", "or remove the line"),
        ('[""]', "CEP0706", "it is empty", ""),
        ("[5]", "CEP0705", "must be text in quotes", 'write `rules = ["card_testing"]`'),
    ],
    "[receivers.desk] severity": [
        ('""', "CEP0706", "it is one of critical", "the least severe"),
        ('"hihg"', "CEP0706", "it is one of critical", "did you mean `high`?"),
        ('"High"', "CEP0706", "it is one of critical", "did you mean `high`?"),
    ],
    "[[routes]] group_by": [
        ('["card id"]', "CEP0706", "names no value", "card_id"),
        ("7", "CEP0705", "must be a list", ""),
    ],
    "[[routes]] group_wait": [
        ('"soon"', "CEP0706", "cannot be used", "number and a unit"),
    ],
    "[[routes]] group_interval": [
        ('""', "CEP0706", "it is empty", "number and a unit"),
    ],
    "[receivers.desk] group_by": [
        ('["a b"]', "CEP0706", "`a b` names no value", "card_id"),
    ],
    "[receivers.desk] group_wait": [
        ('"30"', "CEP0706", "cannot be used", "number and a unit"),
    ],
    "[receivers.desk] group_interval": [
        ('"-5 minutes"', "CEP0706", "cannot be used", "number and a unit"),
    ],
    "[receivers.desk] rate": [
        ('"fast"', "CEP0706", "`fast` is no rate", "30 per minute"),
        ('"0 per minute"', "CEP0706", "is no rate", "30 per minute"),
        ('"3 per blink"', "CEP0706", "no length of time", "30 per minute"),
    ],
    "[receivers.desk] order": [
        ('"keys"', "CEP0706", "is `key`", "did you mean `key`?"),
    ],
    "[[mute_times]] name": [
        ('""', "CEP0706", "it is empty", ""),
        (f'"{"x" * 101}"', "CEP0706", "more than 100 characters", "shorten it"),
    ],
    "[[mute_times]] matchers": [
        ('["severity"]', "CEP0706", "`severity` is no matcher", "severity = high"),
    ],
    "[[mute_times]] receivers": [
        ("[]", "CEP0706", "is empty", ""),
        ('["dsk"]', "CEP0742", "no receiver `dsk`", "`desk`"),
    ],
    "[[mute_times]] weekdays": [
        ('["mon"]', "CEP0706", "`mon` is not a day", "monday to friday"),
    ],
    "[[mute_times]] days": [
        ('["0"]', "CEP0706", "`0` is no day", "-1"),
        ('["7 to 1"]', "CEP0706", "ends before it begins", "1 to 7"),
    ],
    "[[mute_times]] months": [
        ('["13"]', "CEP0706", "`13` is not a month", "june to august"),
    ],
    "[[mute_times]] hours": [
        ('["22:00"]', "CEP0706", "`22:00` is no range of hours", "22:00 to 06:00"),
        ('["22:00 to 25:00"]', "CEP0706", "`25:00` is no time", "22:00 to 06:00"),
        ('["06:00 to 06:00"]', "CEP0706", "no time at all", "00:00 to 24:00"),
    ],
    "[[mute_times]] zone": [
        ('"Europe/Berln"', "CEP0706", "no time zone", "Europe/Berlin"),
        ('"../etc"', "CEP0706", "no time zone", "Europe/Berlin"),
    ],
    "[[inhibit]] by": [
        ("[]", "CEP0706", "is empty", ""),
        ('["rule"]', "CEP0706", "`rule` is no matcher", "severity = high"),
    ],
    "[[inhibit]] of": [
        ('["severity"]', "CEP0706", "`severity` is no matcher", "severity = high"),
    ],
    "[[inhibit]] equal": [
        ('["card id"]', "CEP0706", "names no value", "card_id"),
    ],
    "[[inhibit]] for": [
        ('"soon"', "CEP0706", "cannot be used", "number and a unit"),
        ('"0 seconds"', "CEP0706", "no time at all", "1 hour"),
    ],
    "[http] listen": [
        ('""', "CEP0706", "it is not HOST:PORT", "`127.0.0.1:8090`"),
        ('"8090"', "CEP0706", "it is not HOST:PORT", "`127.0.0.1:8090`"),
        ('":9000"', "CEP0706", "it is not HOST:PORT", "`127.0.0.1:9000`"),
        ('"http://localhost:80"', "CEP0706", "it is not HOST:PORT", ""),
        ('"localhost:99999"', "CEP0706", "it is not HOST:PORT", ""),
    ],
    "[http] certificate": [
        ('""', "CEP0706", "it is empty", ""),
        ('"job.pem"', "CEP0704", "`key` is missing in [http]", "stand together"),
    ],
    "[http] key": [
        ('" "', "CEP0706", "it is empty", ""),
        ('"job.key"', "CEP0704", "`certificate` is missing in [http]", "stand together"),
    ],
    "[tokens.ann] secret": [
        ('""', "CEP0706", "it is empty", ""),
        ('"abcdefghijklmnopqrstuvwxyz"', "CEP0735", "stands in the job file", '"${NAME}"'),
        ('"${GONE}"', "CEP0708", "GONE is not set", "export GONE=..."),
        ('"${MYSQL}"', "CEP0709", "a token has 20 to 500 letters", "token_urlsafe"),
    ],
    "[tokens.ann] scopes": [
        ("[]", "CEP0706", "is empty", 'write `scopes = ["read", "operate"]`'),
        ('["write"]', "CEP0706", "is `read` or `operate` or `deploy`", ""),
        ('["read", 5]', "CEP0705", "must be text in quotes", ""),
    ],
    "[spark] cores": [
        ("0", "CEP0706", "must be at least 1", "write `cores = 4`"),
        ("-2", "CEP0706", "must be at least 1", ""),
        ("1025", "CEP0706", "must be at most 1,024", ""),
    ],
    "[spark] master": [
        ('"local[4]"', "CEP0706", "`local[4]` is no cluster", "remove the line"),
        ('"yarn"', "CEP0707", "no job of this version runs on yarn", "spark://head:7077"),
        ('"k8s://https://head:6443"', "CEP0707", "runs on k8s", "spark://head:7077"),
        ('"head:7077"', "CEP0706", "is no address of a master", "spark://HOST:PORT"),
        ('"spark://head"', "CEP0706", "is no address of a master", "spark://HOST:PORT"),
        ('"spark://a:7077,b"', "CEP0706", "is no address of a master", "spark://HOST:PORT"),
        ('"spark://head:7077"', "CEP0744", "how many of the cluster's cores", "cores = 4"),
    ],
    "[spark] python": [
        ('""', "CEP0706", "it is empty", ""),
        ('"/opt/cep/bin/python"', "CEP0744", "`python` is for the machines of a cluster", "master"),
    ],
    "[spark] host": [
        ('"10.0.0.5"', "CEP0744", "`host` is for the machines of a cluster", "master"),
    ],
    "[spark] conf": [
        ('{ "spark.executor.memory" = [] }', "CEP0706", "`spark.executor.memory` is no text", '"4g"'),
        ("{ spark.cores.max = 8 }", "CEP0745", "the job sets `spark.cores.max` itself", "[spark] cores"),
        ('{ "spark.sql.streaming.x" = "1" }', "CEP0745", "would depend on it", "remove it"),
        ('{ "executor.memory" = "4g" }', "CEP0745", "is no setting of Spark", "begin with `spark.`"),
    ],
}  # fmt: skip

for _key in ("fields", "constants", "timestamps", "zone", "delimiter"):
    for _feed in ("refund", "order"):
        VALUES[f"[feeds.{_feed}] {_key}"] = VALUES[f"[feeds.payment] {_key}"]
