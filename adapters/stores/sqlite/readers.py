"""Readers: a few connections that only read, each used by one thread at a time."""

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TypeVar

from adapters.stores.sqlite.connections import open_reading
from adapters.stores.sqlite.errors import translated
from adapters.stores.sqlite.settings import SqliteSettings
from adapters.stores.sqlite.tables import tables_on
from core.errors import StoreUnavailable
from core.stores.tables import Tables

T = TypeVar("T")


class Readers:
    """Runs reading steps off the event loop, each on one snapshot of what is committed."""

    def __init__(self, settings: SqliteSettings) -> None:
        """Open nothing yet: a connection is made when the idle ones are all in use."""
        self._settings = settings
        self._idle: SimpleQueue[_Reader] = SimpleQueue()
        self._pool = ThreadPoolExecutor(settings.readers, thread_name_prefix="sqlite reader")

    async def run(self, step: Callable[[Tables], T]) -> T:
        """Run the step and return its value.

        Raises:
            StoreUnavailable: the file cannot be read, or the store is closed.
            TypeError: the step tried to write.
        """
        # A pool of its own: reads must not wait behind other work of the default one.
        loop = asyncio.get_running_loop()
        try:
            reading = loop.run_in_executor(self._pool, self._perform, step)
        except RuntimeError as exc:
            raise StoreUnavailable(f"the store {self._settings.path} is closed") from exc
        return await reading

    def close(self) -> None:
        """Wait for the reads that are going on, then close every connection."""
        self._pool.shutdown(wait=True)
        while not self._idle.empty():
            self._idle.get().connection.close()

    def _perform(self, step: Callable[[Tables], T]) -> T:
        try:
            return self._on_snapshot(self._take(), step)
        except sqlite3.Error as exc:
            if getattr(exc, "sqlite_errorcode", None) == sqlite3.SQLITE_READONLY:
                raise TypeError("a step that only reads may not change a table") from exc
            raise translated(exc, self._settings.path) from exc

    def _take(self) -> "_Reader":
        try:
            return self._idle.get_nowait()
        except Empty:
            connection = open_reading(self._settings)
            return _Reader(connection, tables_on(connection))

    def _on_snapshot(self, reader: "_Reader", step: Callable[[Tables], T]) -> T:
        # BEGIN takes no snapshot yet, the first SELECT does; from then on the view stands still.
        try:
            reader.connection.execute("BEGIN")
            return step(reader.tables)
        finally:
            reader.connection.rollback()
            self._idle.put(reader)


@dataclass(frozen=True, slots=True)
class _Reader:
    connection: sqlite3.Connection
    tables: Tables
