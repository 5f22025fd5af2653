"""A process that uses a store as the gateway would, to be killed: `child.py <what> <file>`."""

import asyncio
import itertools
import json
import resource
import sys
from pathlib import Path

from adapters.stores.sqlite import SqliteSettings, SqliteTransactor
from core.errors import InterlockError
from core.stores.tables import Query
from tests.contracts.table_rows import document


async def hold(store: SqliteTransactor) -> None:
    print("held", flush=True)
    await asyncio.Event().wait()


async def write(store: SqliteTransactor) -> None:
    """Ten writers; the path of each row is told once, and only once, it is durable."""

    async def writer(name: int) -> None:
        for number in itertools.count():
            row = document(f"{name}/{number}")
            await store.write(lambda tables, row=row: tables.documents.add(row))
            print(row.path, flush=True)

    await asyncio.gather(*(writer(name) for name in range(10)))


async def fill(store: SqliteTransactor) -> None:
    """Meets a disk on which no file can grow, then one with space again."""
    await store.write(lambda tables: tables.documents.add(document("before")))
    log = Path(sys.argv[2] + "-wal").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (log, resource.RLIM_INFINITY))
    rows = [document(f"during/{number}", "x" * 1_000) for number in range(10)]
    writes = [store.write(lambda tables, row=row: tables.documents.add(row)) for row in rows]
    refused = await asyncio.gather(*writes, return_exceptions=True)
    readable = await store.read(lambda tables: tables.documents.count(Query()))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    await store.write(lambda tables: tables.documents.add(document("after")))
    kept = await store.read(lambda tables: tables.documents.find(Query()))
    told = {
        "refused": [repr(one) for one in refused],
        "readable": readable,
        "kept": [row.path for row in kept],
    }
    print(json.dumps(told), flush=True)


async def main() -> None:
    try:
        store = await SqliteTransactor.open(SqliteSettings(path=Path(sys.argv[2])))
    except InterlockError as exc:
        sys.exit(f"{type(exc).__name__}: {exc}")
    async with store:
        await {"hold": hold, "write": write, "fill": fill}[sys.argv[1]](store)


if __name__ == "__main__":
    asyncio.run(main())
