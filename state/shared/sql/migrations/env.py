"""Run by alembic for each upgrade; passes it the open connection and transaction."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=context.config.attributes["metadata"],
    version_table=context.config.attributes["version_table"],
)
context.run_migrations()
