"""Every code of job configuration (CEP07xx), data (CEP085x to CEP087x) and running (CEP0746 to CEP0749,
CEP081x, CEP088x and later).

A code is never given another meaning. `docs/errors/CEPxxxx.md` has a page for each. (The outbox keeps
CEP0801 to CEP0849, what is not executed yet CEP0901 to CEP0919.)
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

CONFIG: Mapping[str, str] = MappingProxyType(
    {
        "CEP0701": "the job file cannot be read",
        "CEP0702": "the job file is not TOML",
        "CEP0703": "an unknown key in the job file",
        "CEP0704": "a key is missing in the job file",
        "CEP0705": "a value of the wrong kind in the job file",
        "CEP0706": "a value in the job file that cannot be used",
        "CEP0707": "not supported yet in the job file",
        "CEP0708": "a secret that is not there",
        "CEP0709": "a secret that cannot be used",
        "CEP0710": "a feed without a stream",
        "CEP0711": "a stream without a feed",
        "CEP0712": "a feed names an unknown field",
        "CEP0713": "a constant of the wrong type",
        "CEP0714": "a receiver names an unknown rule",
        "CEP0715": "a source field that cannot be read as its fields need it",
        "CEP0716": "a webhook without a secret",
        "CEP0717": "a feed that no rule reads",
        "CEP0718": "a receiver for a severity that its rules do not have",
        "CEP0719": "a setting of a feed that changes nothing",
        "CEP0720": "the packs of a first start are not there",
        "CEP0721": "the state folder cannot be there",
        "CEP0722": "the job file differs from what is fixed in the state folder",
        "CEP0723": "the outbox cannot be there",
        "CEP0724": "an address that is not of this machine",
        "CEP0725": "two feeds read the same files",
        "CEP0726": "the files of a feed cannot be read",
        "CEP0727": "the port of the job is open to other machines",
        "CEP0728": "a secret field without a key to hide it",
        "CEP0730": "an option that is no feed",
        "CEP0731": "a route names an unknown receiver",
        "CEP0732": "what routes leave without effect",
        "CEP0734": "an option that the kind of a receiver does not have",
        "CEP0735": "a secret that stands in the job file",
        "CEP0736": "a template that cannot be read",
        "CEP0737": "a port for other machines without a token",
        "CEP0738": "tokens that nobody can tell apart, or that open nothing",
        "CEP0739": "a certificate that cannot be used",
        "CEP0740": "no file fits the path of a feed",
        "CEP0741": "an option that the source of a feed does not have",
        "CEP0742": "a mute time that cannot be",
        "CEP0743": "what on the way to receivers has no effect",
        "CEP0744": "options of a cluster that do not fit together",
        "CEP0745": "a setting of Spark that a job may not be given",
        "CEP0750": "an option that no consumer of Kafka may be told",
        "CEP0751": "an option of Kafka that cannot be used",
        "CEP0752": "options of Kafka that need one another",
        "CEP0753": "topics that are not named once",
        "CEP0754": "a field that the record of a log cannot give",
        "CEP0755": "an option that no producer of Kafka may be told",
        "CEP0756": "dead letters that go to no topic",
        "CEP0757": "a bucket that cannot be read",
        "CEP0758": "a library for buckets that is not installed",
        "CEP0759": "what does not go with a state in a bucket",
        "CEP0765": "keys of a schema that do not go together",
        "CEP0766": "a schema that cannot be read",
        "CEP0767": "a schema that does not fit the stream",
        "CEP0786": "a feed over HTTP that nobody can bring events to",
    }
)

DATA: Mapping[str, str] = MappingProxyType(
    {
        "CEP0851": "no such data file",
        "CEP0852": "a data file cannot be read",
        "CEP0853": "a data file of unknown format",
        "CEP0854": "a line that is no case",
        "CEP0855": "a document that cannot be read",
        "CEP0856": "a feed without a file",
        "CEP0861": "a file of queries that cannot be read, or changed",
        "CEP0862": "a filter on what documents do not have",
        "CEP0863": "no query in the file",
        "CEP0864": "an expensive standing query",
        "CEP0865": "more queries of which the same is to be said",
        "CEP0870": "an event was poison",
        "CEP0871": "processes end, and no event is the reason",
        "CEP0872": "jars that Spark needs are missing",
    }
)

RUNNING: Mapping[str, str] = MappingProxyType(
    {
        "CEP0746": "a resource cannot be opened",
        "CEP0747": "too large to be sent to workers",
        "CEP0748": "what a worker needs is not there",
        "CEP0810": "the brokers of a feed do not answer",
        "CEP0811": "a topic that is not there",
        "CEP0873": "a standby without an outbox on a server",
        "CEP0874": "another process has begun the batch",
        "CEP0875": "a schema registry does not answer",
        "CEP0876": "a schema registry does not let the job in",
        "CEP0880": "a clock that cannot be right",
        "CEP0881": "a file of the state folder that the job's user may not use",
        "CEP0890": "the cluster does not run the job",
        "CEP0891": "a machine of the cluster has another program",
        "CEP0892": "a machine of the cluster has no Python for the job",
        "CEP0893": "a machine of the cluster does not see the job's folders",
        "CEP0920": "packs of one job have different queries of one name",
        "CEP0951": "packs of one job declare a stream differently",
        "CEP0952": "the folder of a feed is missing",
        "CEP0953": "the file of a feed is missing",
        "CEP0957": "few file handles for a job with a port",
        "CEP0958": "the port of the job is taken",
        "CEP0959": "Java ended before the job",
        "CEP0960": "compiled code cannot be kept on disk",
        "CEP0961": "the job's port asks for a token",
        "CEP0962": "a token that may not do this",
        "CEP0963": "too many wrong tokens",
        "CEP0964": "a request that cannot be understood",
        "CEP0965": "a request that is too large",
        "CEP0966": "there is nothing of that name or id",
        "CEP0967": "what is asked for does not fit how it stands",
        "CEP0968": "the job cannot answer yet",
        "CEP0969": "the alert was erased",
        "CEP0970": "not all could be erased",
        "CEP0975": "a client has too many streams",
        "CEP0976": "a feed takes no more events for now",
        "CEP0977": "what was sent is no event",
        "CEP0978": "events that could not be written",
        "CEP0999": "this should not have happened",
    }
)

TITLES: Mapping[str, str] = MappingProxyType({**CONFIG, **DATA, **RUNNING})
