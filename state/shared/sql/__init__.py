"""A journal in a SQL database, SQLite or PostgreSQL, written by one thread.

``store`` is what an application uses; ``thread`` carries its requests out, away from the event loop.
Everything else is imported in that thread only, because SQLAlchemy takes its time: ``database``, ``places``
and ``erasure`` do the work, one transaction each, on the tables of ``tables``, through the link of
``connection``, which ``dialects`` prepares and whose errors it explains; ``layout`` brings an older database
up to date with the scripts in ``migrations``. ``leases`` is the lease store beside it, in a thread of its own.
"""

from state.shared.sql.store import SqlStore

__all__ = ["SqlStore"]
