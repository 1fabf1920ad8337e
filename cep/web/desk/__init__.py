"""The work of a desk on a job's alerts: what the API, the page and the CLI show of a job, and do to it.

desk            whose alerts: the outbox, the job file, and the job where it runs
errors          what was asked for and cannot be
filters         texts of filters, cursors and ids to values
alerts          lists of alerts, one of them with its way to receivers
episodes        lists of episodes, one of them with its alerts
silences        silences and what they hold
receivers       receivers and how they stand
packs           packs that run
rules           rules, how often each fired; the text of one
feeds           feeds, how far each is
dead_letters    what could not be read
batches         batches
status          how the job is
acting          who acts, and the line of it in the audit table
episode_acts, silence_acts, delivery_acts, receiver_acts
                what people do, each written down with who did it and when

Everything that is read is a frozen dataclass of JSON values; moments are texts, RFC 3339 in UTC.
"""
