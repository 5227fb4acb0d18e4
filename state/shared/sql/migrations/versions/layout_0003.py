"""Adds the leases."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the table, and raise the first release's layout mark."""
    op.create_table(
        "leases",
        sa.Column("owner", sa.Text, primary_key=True),
        sa.Column("place", sa.Text, primary_key=True),
        sa.Column("holder", sa.Text),
        sa.Column("since", sa.Text, nullable=False),
        sa.Column("until", sa.Text, nullable=False),
        sa.Column("state_id", sa.Text, sa.ForeignKey("states.state_id")),
        sa.Column("guest", sa.Text),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.UniqueConstraint("state_id"),
    )
    op.execute("UPDATE journal_layout SET layout = 3")
