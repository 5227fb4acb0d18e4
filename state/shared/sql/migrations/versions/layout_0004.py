"""What a change acts on is kept with it: the last turn whose words it takes up."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the turn, unknown for all that was done before, and tell those who know no other mark."""
    op.add_column("entries", sa.Column("turn", sa.Integer))
    op.execute("UPDATE journal_layout SET layout = 4")
