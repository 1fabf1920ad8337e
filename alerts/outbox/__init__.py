"""The outbox: what a batch raised, written in one transaction, and what is still to be delivered.

schema       the tables and their version
connect      engines and transactions of SQLite and PostgreSQL
errors       OutboxError, and what a database says in its terms
memory       what alert stages keep, in the database
heads        ids as numbers
insert       alerts into their table
record       one batch, once
among        rows whose number is one of many
trailing     the indexes that pages are read by
pages        which alerts a page shows
counts       how many a page tells of
ways         the words for routes that led alerts to receivers
notifications  several alerts that go out together
traces       what stages said of a delivery
silences     what people do not want to be told of, and what that holds back
episodes     which alerts belong together, and what people said of them
positions    how far receivers of transactions are
leases       which of several processes may do something
deliveries   what is due, what came of it, how much waits
standings    how receivers stand: breakers and pauses
audit        who did what
small_steps  how much one transaction changes beside a job
retention    what is old goes
erasing      alerts that a person asks to have erased
blanking     what was written beside them
stored       alerts and batches read back
migration    from the version before
store        Outbox, the way in to all of these
"""

from alerts.due import Due, Settled
from alerts.outbox.deliveries import Status
from alerts.outbox.errors import OutboxError
from alerts.outbox.pages import Wanted
from alerts.outbox.record import BatchRecord, Recorded
from alerts.outbox.silences import Held
from alerts.outbox.store import Outbox
from alerts.outbox.stored import Delivery, StoredAlert

__all__ = [
    "BatchRecord",
    "Delivery",
    "Due",
    "Held",
    "Outbox",
    "OutboxError",
    "Recorded",
    "Settled",
    "Status",
    "StoredAlert",
    "Wanted",
]
