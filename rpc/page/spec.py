"""The declaration of an application's page: its noun, its view, its roles and commands, its objects."""

import re
import sys
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Generic, TypeAlias

from pydantic import BaseModel, JsonValue

from rpc.gateway import USER, Caller, View
from rpc.page import forms
from rpc.page.session import C, S, Session
from state.documents.program_faults import report_faults
from state.shared import Applied, Command

sys.excepthook = report_faults

AnyCommand: TypeAlias = Command[Any, Any]

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_METHOD = re.compile(rf"{_NAME.pattern}(\.{_NAME.pattern})*")


@dataclass(frozen=True, slots=True)
class StateObject:
    """One part of the state as ``agent.state`` shows it.

    Args:
        id: Its id.
        data: Its fields, named like the fields of the commands that change it.
        created_at: When it was first set, if known.
        updated_at: When it was last changed, if known.
    """

    id: str
    data: Mapping[str, JsonValue]
    created_at: datetime | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class ObjectType(Generic[S, C]):
    """A type of object that ``agent.state`` serves; every type can be read and listed.

    Without an ``id_field`` there is exactly one object, whose id is the name of its type. A list of everything
    leaves it out while all its fields are ``null``. The type that has the page's noun as its name is the state
    as a whole: its data is the view.

    Args:
        all: Returns the objects of a state.
        id_field: The field of the commands ``update`` and ``delete`` that holds the object's id.
        create: The command that creates an object.
        update: The command that changes one.
        delete: The command that removes one.
        find: Returns the object with an id or raises a ``StateError``; by default it is searched in ``all``.
        created: Returns the id of the object that a command created or added to; by default the first that
            differs, or the last. After a restart ``before`` is the state after the change.
    """

    all: Callable[[S], Iterable[StateObject]]
    id_field: str | None = None
    create: type[Command[S, C]] | None = None
    update: type[Command[S, C]] | None = None
    delete: type[Command[S, C]] | None = None
    find: Callable[[S, str], StateObject] | None = None
    created: Callable[[Applied[S], Any, C], str] | None = None

    @property
    def commands(self) -> Mapping[forms.Operation, type[Command[S, C]]]:
        """The command of each writing operation."""
        found: dict[forms.Operation, type[Command[S, C]] | None] = {
            "create": self.create,
            "update": self.update,
            "delete": self.delete,
        }
        return {operation: kind for operation, kind in found.items() if kind is not None}


@dataclass(frozen=True, kw_only=True)
class PageMethod(Generic[S, C]):
    """A further method of the application.

    Args:
        name: The name clients call.
        request: The model of its payload, a ``rpc.gateway.Request``.
        replies: The models of its possible replies.
        answer: Handles the request; it raises ``Rejected`` or ``StateError``.
        roles: The roles that may call it; ``None`` for all of the page's.
        errors: The codes it can raise beside those of every method.
        writes: Whether it changes anything, and so is refused once the call is over; a repeat with the ``key``
            of a change that was made is still passed on.
    """

    name: str
    request: type[Any]
    replies: tuple[type[BaseModel], ...]
    answer: Callable[[Session[S, C], Any, Caller], Awaitable[BaseModel]]
    roles: Collection[str] | None = None
    errors: tuple[int, ...] = ()
    writes: bool = True


class PageFaults(ValueError):
    """A page is declared wrongly.

    Args:
        faults: Each fault, with what to do.
    """

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


@dataclass(frozen=True, kw_only=True)
class PageSpec(Generic[S, C]):
    """The declaration of the data that clients in a room can read and change.

    Args:
        noun: The name of the state, in lower snake case: ``visit`` makes ``get_visit_state``, ``visit.apply``,
            ``visit_id``, ``visit_state_changed`` and the key ``visit`` of replies.
        view: Renders a state for clients: the state, its version, the active agent.
        roles: The commands that each role may send, for every role there is.
        user: The role of the bound user, one of these; other participants' roles come from a token attribute.
        objects: The types that ``agent.state`` serves.
        methods: The application's further methods.
        features: Further features that ``hello`` reports.
        resolve: Translates a command from the terms of a page before it is applied.
        view_form: The form of the view, a model or a ``TypedDict``, for the contract.
        repeat: Returns the commands that do a state of the user's again, in the order in which they are to
            be sent, for a client that offers them when the next one begins.

    Raises:
        PageFaults: The declaration has faults; the error lists all of them.
    """

    noun: str
    view: Callable[[S, int, str], View]
    roles: Mapping[str, Collection[type[Command[S, C]]]]
    user: str = USER
    objects: Mapping[str, ObjectType[S, C]] = field(default_factory=dict[str, ObjectType[S, C]])
    methods: tuple[PageMethod[S, C], ...] = ()
    features: tuple[str, ...] = ()
    resolve: Callable[[C, Command[S, C]], Command[S, C]] = lambda context, command: command
    view_form: type[Any] | None = None
    repeat: Callable[[S], Iterable[Command[S, C]]] | None = None

    def __post_init__(self) -> None:
        if faults := tuple(self._faults()):
            raise PageFaults(faults)

    @property
    def changed_method(self) -> str:
        """The clients' method that receives changes."""
        return f"{self.noun}_state_changed"

    @cached_property
    def ops(self) -> Mapping[str, type[Command[S, C]]]:
        """Every command that a client can send, by its ``op``: as declared, and those of a set by name."""
        return {
            op_of(kind): kind
            for kinds in self.roles.values()
            for kind in (sorted(kinds, key=op_of) if isinstance(kinds, Set) else kinds)
        }

    @cached_property
    def ops_of(self) -> Mapping[str, Mapping[str, type[Command[S, C]]]]:
        """The commands of each role, by ``op``: those of an earlier role first, each group by name."""
        order = [op for kinds in self.roles.values() for op in sorted(map(op_of, kinds))]
        return {
            role: {op: self.ops[op] for op in dict.fromkeys(order) if self.ops[op] in kinds}
            for role, kinds in self.roles.items()
        }

    @cached_property
    def all_features(self) -> tuple[str, ...]:
        """The features that clients can rely on beside ``hello`` and reading the state."""
        return (
            "say",
            *(method.name for method in self.methods),
            *((f"{self.noun}.apply",) if self.ops else ()),
            f"{self.noun}.subscribe",
            "get_transcript",
            *(("agent.state",) if self.objects else ()),
            "patches",
            "your_turn_to_speak",
            "call_ended",
            *self.features,
        )

    @cached_property
    def hello_reply(self) -> type[BaseModel]:
        """The form of the reply to ``hello``."""
        return forms.hello_reply(self.noun, self.all_features, repeats=self.repeat is not None)

    @cached_property
    def whole_state(self) -> type[BaseModel]:
        """The form of a reply with the whole state."""
        return forms.whole_state(self.noun)

    def allowed(self, kind: type[AnyCommand]) -> tuple[str, ...]:
        """Return the roles that may send a command."""
        return tuple(role for role, kinds in self.roles.items() if kind in kinds)

    def _faults(self) -> Iterator[str]:
        names = [
            ("noun", self.noun),
            *(("role", role) for role in self.roles),
            *(("object type", name) for name in self.objects),
        ]
        for what, name in names:
            if not _NAME.fullmatch(name):
                yield f"The {what} {name!r} is not lower snake case."
        if self.user not in self.roles:
            yield f"The user's role {self.user!r} is not in roles. Add it with the commands it may send."
        if self.noun in ("version", "patch", "base_version", "unchanged"):
            yield f"A reply has a field {self.noun!r} of its own. Choose another noun."
        ops: dict[str, type[AnyCommand]] = {}
        for kind in dict.fromkeys(kind for kinds in self.roles.values() for kind in kinds):
            if not (isinstance(kind, type) and issubclass(kind, Command)):
                yield f"{getattr(kind, '__name__', kind)} in roles is not a Command. Leave it out."
                continue
            op = kind.model_fields["op"].default if "op" in kind.model_fields else None
            if not isinstance(op, str):
                yield f'{kind.__name__} has no op. Add: op: Literal["..."] = "...".'
            elif op in ops:
                yield f"{kind.__name__} and {ops[op].__name__} have the same op {op!r}. Rename one."
            else:
                ops[op] = kind
        for name, objects in self.objects.items():
            for operation, kind in objects.commands.items():
                if kind not in ops.values():
                    yield (
                        f"No role may send {kind.__name__}, which {operation}s {name!r}. Add it to a role."
                    )
                if objects.id_field is not None and operation != "create":
                    if objects.id_field not in kind.model_fields:
                        yield f"{kind.__name__} has no field {objects.id_field!r} for the id of {name!r}."
        taken = {
            "hello",
            "say",
            "get_transcript",
            "refuse_recording",
            f"get_{self.noun}_state",
            "agent.state",
        }
        taken |= {"start_turn", "end_turn", "cancel_turn", "set_microphone"}
        taken |= {f"{self.noun}.{word}" for word in ("apply", "subscribe", "unsubscribe")}
        for method in self.methods:
            if not _METHOD.fullmatch(method.name):
                yield f"The method {method.name!r} is not lower snake case, with dots or without."
            if method.name in taken:
                yield f"There is more than one method {method.name!r}. Rename one."
            taken.add(method.name)
            for role in method.roles or ():
                if role not in self.roles:
                    yield f"The method {method.name!r} is for {role!r}, which is not in roles."


def op_of(kind: type[AnyCommand]) -> str:
    """Return a command's name."""
    return str(kind.model_fields["op"].default)
