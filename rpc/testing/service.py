"""The fake of the server API for a fake room."""

from collections.abc import Callable

from livekit import api


class FakeService:
    """Replaces ``LiveKitAPI().room``: returns participants and updates their permissions.

    Args:
        permission_of: Returns a participant's permissions, which may be edited in place, or ``None``.
    """

    def __init__(self, permission_of: Callable[[str], api.ParticipantPermission | None]) -> None:
        self._permission_of = permission_of
        self.updates: list[api.UpdateParticipantRequest] = []
        """Every requested update, oldest first."""
        self.fault: Exception | None = None
        """The exception every request raises, if a test sets one."""

    async def get_participant(self, get: api.RoomParticipantIdentity) -> api.ParticipantInfo:
        """Return a participant.

        Raises:
            TwirpError: ``not_found``: there is no such participant.
        """
        return api.ParticipantInfo(identity=get.identity, permission=self._found(get.identity))

    async def update_participant(self, update: api.UpdateParticipantRequest) -> api.ParticipantInfo:
        """Replace a participant's permissions as a whole, as the server does.

        Raises:
            TwirpError: ``not_found``: there is no such participant.
        """
        permission = self._found(update.identity)
        asked = api.UpdateParticipantRequest()
        asked.CopyFrom(update)
        self.updates.append(asked)
        if update.HasField("permission"):
            permission.CopyFrom(update.permission)
        return api.ParticipantInfo(identity=update.identity, permission=permission)

    def _found(self, identity: str) -> api.ParticipantPermission:
        if self.fault is not None:
            raise self.fault
        permission = self._permission_of(identity)
        if permission is None:
            raise api.TwirpError("not_found", "participant does not exist", status=404)
        return permission
