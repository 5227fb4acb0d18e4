"""The journal in a SQL database, SQLite or PostgreSQL, written by one thread.

Applications use ``store``, with its ``place_leases`` and ``eraser``; ``access`` runs their work in a ``thread``
outside the event loop. Everything else is imported only in
that thread, because importing SQLAlchemy takes time: ``database``, ``places`` and ``erasure`` do the work, one
transaction each, on the tables of ``tables``, through the connection of ``connection``. ``dialects`` sets connections
up and explains their errors; ``layout`` migrates older databases with the scripts in ``migrations``. ``leases`` is
the lease store beside it, in a thread of its own.
"""

from state.shared.sql.eraser import Eraser
from state.shared.sql.place_leases import PlaceLeases
from state.shared.sql.store import SqlStore

__all__ = ["Eraser", "PlaceLeases", "SqlStore"]
