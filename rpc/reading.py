"""Commands as clients send them: which there are, and for whom."""

from collections.abc import Mapping

from pydantic import JsonValue

from rpc.gateway import STAFF, BadParams, Caller, Forbidden, UnknownOperation, part
from state.commands import GUEST_COMMANDS, STAFF_COMMANDS, OrderCommand


def _by_op(kinds: frozenset[type[OrderCommand]]) -> dict[str, type[OrderCommand]]:
    named = {str(kind.model_fields["op"].default): kind for kind in kinds}
    return {op: named[op] for op in sorted(named)}


GUEST_OPS = _by_op(GUEST_COMMANDS)
"""What a guest can do, by name; staff can do it for him."""

STAFF_OPS = _by_op(STAFF_COMMANDS)
"""What only the house can do, by name."""


def read_command(written: Mapping[str, JsonValue], caller: Caller) -> OrderCommand:
    """Read a command by its ``op``.

    Raises:
        BadParams: It has no ``op``, or a field is missing, unknown or wrong.
        UnknownOperation: There is no such command for clients.
        Forbidden: It is the house's, and the caller is not.
    """
    op = written.get("op")
    if not isinstance(op, str):
        raise wrong("command.op", "missing", "Say which command it is.")
    possible = GUEST_OPS | STAFF_OPS if caller.role == STAFF else GUEST_OPS
    kind = possible.get(op)
    if kind is None and op in STAFF_OPS:
        raise Forbidden("Only the house's own people can do this.")
    if kind is None:
        raise UnknownOperation(
            f"There is no such command. Possible are {', '.join(possible)}.",
            field="command.op",
            possible=[*possible],
        )
    return part(kind, written, at="command")


def wrong(field: str, code: str, detail: str) -> BadParams:
    """Say what is wrong with a field, in the words and with the facts of every other such answer.

    Args:
        field: Its name, with a dot between the names of those it lies in.
        code: What is wrong, in a word.
        detail: An English sentence that says what to do.
    """
    return BadParams(
        f"{field}: {detail}",
        field=field,
        errors=[{"path": field, "code": code, "detail": detail.rstrip(".")}],
    )
