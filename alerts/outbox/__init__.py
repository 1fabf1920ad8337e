"""The outbox: what a batch raised, written in one transaction, and what is still to be delivered.

schema       the tables and their version
connect      engines and transactions of SQLite and PostgreSQL
errors       OutboxError, and what a database says in its terms
memory       what alert stages keep, in the database
record       one batch, once
deliveries   what is due, what came of it, how much waits
stored       alerts and batches read back
store        Outbox, the way in to all of these
"""

from alerts.outbox.deliveries import Due, Settled, Status
from alerts.outbox.errors import OutboxError
from alerts.outbox.record import BatchRecord, Recorded
from alerts.outbox.store import Outbox
from alerts.outbox.stored import Delivery, StoredAlert, Wanted

__all__ = [
    "BatchRecord",
    "Delivery",
    "Due",
    "Outbox",
    "OutboxError",
    "Recorded",
    "Settled",
    "Status",
    "StoredAlert",
    "Wanted",
]
