"""Run by alembic for each upgrade: hands it the connection and the transaction that are open already."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=context.config.attributes["metadata"],
    version_table=context.config.attributes["version_table"],
)
context.run_migrations()
