"""SQLite: the embedded store of one process, on one file."""

from adapters.stores.sqlite.settings import SqliteSettings
from adapters.stores.sqlite.transactor import SqliteTransactor
from adapters.stores.sqlite.version import version_warning

__all__ = ["SqliteSettings", "SqliteTransactor", "version_warning"]
