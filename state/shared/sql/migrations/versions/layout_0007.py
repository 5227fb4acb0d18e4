"""Adds the state that each user had last, and the settings that apply to all states of an owner."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add both tables, and raise the first release's layout mark."""
    op.create_table(
        "last_states",
        sa.Column("owner", sa.Text, primary_key=True),
        sa.Column("guest", sa.Text, primary_key=True),
        sa.Column("state_id", sa.Text, sa.ForeignKey("states.state_id"), nullable=False),
        sa.Column("at", sa.Text, nullable=False),
    )
    op.create_table(
        "owner_settings",
        sa.Column("owner", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
    op.execute("UPDATE journal_layout SET layout = 7")
