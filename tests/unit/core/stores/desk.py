"""A desk at which tests do the inbox's steps, each in a transaction of its own."""

from datetime import timedelta

from core.notifications.store import InboxFilter, Verdict
from core.stores.memory_tables import MemoryTransactor
from core.stores.steps import notifications as steps
from tests.unit.core.notifications.rows import KEY, NOW

LATER = NOW + timedelta(minutes=1)
PULL = "github:acme/app#12"


class Desk:
    """Steps, each in a transaction of its own."""

    def __init__(self):
        self.tables = MemoryTransactor()

    async def record(self, *rows, key=None, now=NOW):
        return await self.tables.write(lambda t: steps.record(t, key, rows, now))

    async def judge(self, row_id, now=NOW, **verdict):
        judged = Verdict(**verdict)
        return await self.tables.write(lambda t: steps.judge(t, KEY, row_id, judged, now))

    async def tell(self, telling, now=NOW):
        return await self.tables.write(lambda t: steps.tell(t, telling, now))

    async def fail(self, row_id, due_at=LATER):
        failure = ("the model is away", due_at)
        return await self.tables.write(lambda t: steps.undelivered(t, KEY, row_id, failure, NOW))

    async def mark(self, status, *ids, now=NOW):
        return await self.tables.write(lambda t: steps.mark(t, KEY, ids, status, now))

    async def inbox(self, **wanted):
        return await self.tables.read(lambda t: steps.inbox(t, KEY, InboxFilter(**wanted)))

    async def due(self, now=NOW, limit=100):
        return await self.tables.read(lambda t: steps.due(t, limit, now))

    async def row(self, row_id="n1", key=KEY):
        return await self.tables.read(lambda t: steps.notification(t, key, row_id))

    async def read(self, look):
        return await self.tables.read(look)
