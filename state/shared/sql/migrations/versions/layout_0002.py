"""Adds the transcript."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the table, and raise the first release's layout mark, so that it refuses the database."""
    op.create_table(
        "moments",
        sa.Column("state_id", sa.Text, sa.ForeignKey("states.state_id"), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("turn", sa.Integer, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("who", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
    )
    op.create_index("ix_moments_at", "moments", ["at"])
    op.execute("UPDATE journal_layout SET layout = 2")
