"""Transactor: the store's steps on one SQLite file."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Self, TypeVar

from typing_extensions import override

from adapters.stores.sqlite.connections import open_writing
from adapters.stores.sqlite.lock import FileLock, hold
from adapters.stores.sqlite.readers import Readers
from adapters.stores.sqlite.settings import SqliteSettings
from adapters.stores.sqlite.version import demand_version
from adapters.stores.sqlite.writer import Writer
from core.stores.tables import Tables, Transactor

T = TypeVar("T")


class SqliteTransactor(Transactor):
    """Steps in transactions on one file: one writer, a few readers, a lock against others.

    The event loop never waits for the disk. Made by `open`; a context manager that closes itself.
    """

    def __init__(self, *, lock: FileLock, writer: Writer, readers: Readers) -> None:
        """Join what `open` has opened."""
        self._lock = lock
        self._writer = writer
        self._readers = readers
        self._closing: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, settings: SqliteSettings) -> "SqliteTransactor":
        """Lock and open the file; makes it, and its folder, where they are missing.

        Raises:
            Fatal: another process holds it, it cannot be used, or SQLite is too old.
        """
        return await asyncio.to_thread(_open, settings)

    @property
    def commits(self) -> int:
        """Return the commits so far; grouped ones count once."""
        return self._writer.commits

    @override
    async def write(self, step: Callable[[Tables], T]) -> T:
        return await self._writer.submit(step)

    @override
    async def read(self, step: Callable[[Tables], T]) -> T:
        return await self._readers.run(step)

    @override
    async def aclose(self) -> None:
        """Commit what waits, then close readers, writer and lock, in this order; once is enough."""
        if self._closing is None:
            self._closing = asyncio.create_task(
                asyncio.to_thread(self._close), name="close sqlite store"
            )
        # Once begun, closing ends even if its caller is cancelled; a second caller waits for it.
        await asyncio.shield(self._closing)

    async def __aenter__(self) -> Self:
        """Return the transactor, which is open already."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        await self.aclose()

    def _close(self) -> None:
        # The last connection to close checkpoints, and only the writer may.
        self._readers.close()
        self._writer.close()
        self._lock.release()


def _open(settings: SqliteSettings) -> SqliteTransactor:
    demand_version()
    settings.path.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as undo:
        lock = hold(settings.path)
        undo.callback(lock.release)
        writer = Writer(open_writing(settings), settings)
        undo.pop_all()
    return SqliteTransactor(lock=lock, writer=writer, readers=Readers(settings))
