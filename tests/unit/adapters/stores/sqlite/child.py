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
    """Meets disks that end at one byte after another, then one with space again."""
    await store.write(lambda tables: tables.documents.add(document("before")))
    accepted, refused = ["before"], {}
    for space in range(0, 60_000, 1_500):
        log = Path(sys.argv[2] + "-wal").stat().st_size
        limit_files(log + space)
        names = [f"{space}/{number}" for number in range(10)]
        outcomes = await asyncio.gather(
            *(add(store, name) for name in names), return_exceptions=True
        )
        readable = await store.read(lambda tables: tables.documents.count(Query()))
        assert readable >= len(accepted)
        limit_files(resource.RLIM_INFINITY)
        for name, outcome in zip(names, outcomes, strict=True):
            if outcome is True:
                accepted.append(name)
            else:
                refused[name] = repr(outcome)
        accepted.append(f"{space}/after")
        await add(store, f"{space}/after")
    kept = await store.read(lambda tables: tables.documents.find(Query()))
    told = {"accepted": accepted, "refused": refused, "kept": [row.path for row in kept]}
    print(json.dumps(told), flush=True)


async def add(store: SqliteTransactor, name: str) -> bool:
    return await store.write(lambda tables: tables.documents.add(document(name, "x" * 1_000)))


def limit_files(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


async def main() -> None:
    try:
        store = await SqliteTransactor.open(SqliteSettings(path=Path(sys.argv[2])))
    except InterlockError as exc:
        sys.exit(f"{type(exc).__name__}: {exc}")
    async with store:
        await {"hold": hold, "write": write, "fill": fill}[sys.argv[1]](store)


if __name__ == "__main__":
    asyncio.run(main())
