"""The first release: states and entries."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the first tables."""
    op.create_table("journal_layout", sa.Column("layout", sa.Integer, primary_key=True))
    op.create_table(
        "states",
        sa.Column("state_id", sa.Text, primary_key=True),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("ordinal", sa.Integer, nullable=False),
        sa.Column("schema", sa.Integer, nullable=False),
        sa.Column("fence", sa.BigInteger, nullable=False),
        sa.Column("opened_at", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("speaker", sa.Text),
        sa.Column("checksum", sa.Text, nullable=False),
        sa.UniqueConstraint("owner", "ordinal"),
    )
    op.create_table(
        "entries",
        sa.Column("state_id", sa.Text, sa.ForeignKey("states.state_id"), primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True),
        sa.Column("commands", sa.Text, nullable=False),
        sa.Column("touched", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("speaker", sa.Text),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("key", sa.Text),
        sa.Column("body", sa.Text),
        sa.Column("fence", sa.BigInteger, nullable=False),
        sa.Column("schema", sa.Integer, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("checksum", sa.Text, nullable=False),
        sa.UniqueConstraint("state_id", "key"),
    )
    op.execute("INSERT INTO journal_layout (layout) VALUES (1)")
