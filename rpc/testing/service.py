"""The server's side of a fake room: what one with the server's keys may ask."""

from collections.abc import Callable

from livekit import api


class FakeService:
    """Stands where ``LiveKitAPI().room`` does: looks participants up and changes what they may do.

    Args:
        permission_of: Gives the permissions of a participant that can be changed in place, or nothing.
    """

    def __init__(self, permission_of: Callable[[str], api.ParticipantPermission | None]) -> None:
        self._permission_of = permission_of
        self.updates: list[api.UpdateParticipantRequest] = []
        """Every change that was asked for, oldest first."""
        self.fault: Exception | None = None
        """What every request raises, when a test wants one to fail."""

    async def get_participant(self, get: api.RoomParticipantIdentity) -> api.ParticipantInfo:
        """Return somebody as the server knows him.

        Raises:
            ServerError: ``not_found``: he is not there.
        """
        return api.ParticipantInfo(identity=get.identity, permission=self._found(get.identity))

    async def update_participant(self, update: api.UpdateParticipantRequest) -> api.ParticipantInfo:
        """Replace what he may do, whole, as the server does.

        Raises:
            ServerError: ``not_found``: he is not there.
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
