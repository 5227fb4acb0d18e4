"""Adds the last user turn that an entry acts on."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the column, null for earlier entries, and raise the first release's layout mark."""
    op.add_column("entries", sa.Column("turn", sa.Integer))
    op.execute("UPDATE journal_layout SET layout = 4")
