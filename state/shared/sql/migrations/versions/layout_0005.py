"""Renames the reasons for which calls ended."""

from alembic import op

revision = "0005"
down_revision = "0004"

_RENAMED = {"voice_ended": "agent_ended", "guest_left": "user_left"}


def upgrade() -> None:
    """Rename the reasons, and raise the first release's layout mark."""
    for old, new in _RENAMED.items():
        op.execute(f"UPDATE moments SET text = '{new}' WHERE kind = 'ended' AND text = '{old}'")
    op.execute("UPDATE journal_layout SET layout = 5")
