"""The commands that clients can send, by role."""

from collections.abc import Mapping

from pydantic import JsonValue

from rpc.gateway import STAFF, BadParams, Caller, Forbidden, UnknownOperation, part
from state.commands import GUEST_COMMANDS, STAFF_COMMANDS, OrderCommand


def _by_op(kinds: frozenset[type[OrderCommand]]) -> dict[str, type[OrderCommand]]:
    named = {str(kind.model_fields["op"].default): kind for kind in kinds}
    return {op: named[op] for op in sorted(named)}


GUEST_OPS = _by_op(GUEST_COMMANDS)
"""The guest's commands by name; staff can send them for the guest."""

STAFF_OPS = _by_op(STAFF_COMMANDS)
"""The commands that only staff can send, by name."""


def read_command(written: Mapping[str, JsonValue], caller: Caller) -> OrderCommand:
    """Parse a command by its ``op``.

    Raises:
        BadParams: It has no ``op``, or a field is missing, unknown or invalid.
        UnknownOperation: There is no such client command.
        Forbidden: It is a staff command, and the caller is not staff.
    """
    op = written.get("op")
    if not isinstance(op, str):
        raise wrong("command.op", "missing", "Say which command it is.")
    possible = GUEST_OPS | STAFF_OPS if caller.role == STAFF else GUEST_OPS
    kind = possible.get(op)
    if kind is None and op in STAFF_OPS:
        raise Forbidden("Only staff can do this.")
    if kind is None:
        raise UnknownOperation(
            f"There is no such command. Possible are {', '.join(possible)}.",
            field="command.op",
            possible=[*possible],
        )
    return part(kind, written, at="command")


def wrong(field: str, code: str, detail: str) -> BadParams:
    """Return a ``BadParams`` for one field, in the same form as a validation error.

    Args:
        field: The field's path, with dots.
        code: The error as an identifier.
        detail: An English sentence that says what to do.
    """
    return BadParams(
        f"{field}: {detail}",
        field=field,
        errors=[{"path": field, "code": code, "detail": detail.rstrip(".")}],
    )
