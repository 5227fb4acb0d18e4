"""Adds the utterance that the words of a transcript are."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add the column, null for earlier words, and raise the first release's layout mark."""
    op.add_column("moments", sa.Column("utterance", sa.Text))
    op.execute("UPDATE journal_layout SET layout = 8")
