"""Checks an application's declaration as a whole, and reports exceptions of its functions with their place."""

import builtins
import logging
import re
import sys
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, Field, fields, is_dataclass
from difflib import get_close_matches
from inspect import iscoroutinefunction, signature, unwrap
from textwrap import shorten
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, TypeGuard, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ValidationError

from agents.app.faults import InputError, file_and_line, place_of
from agents.app.settings import AppSettings

COMMANDS = (
    *("console", "dev", "start", "web", "staff-password", "join"),
    *("replay", "graph", "schema", "doctor"),
)
"""The commands that every application has."""

_NAME = re.compile(r"(?=.{1,64}\Z)[a-z][a-z0-9]*(-[a-z0-9]+)*")
_WORD = re.compile(r"[a-z][a-z0-9_]*")

T = TypeVar("T")

logger = logging.getLogger(__name__)

_WEB_ROUTES = frozenset(("token", "agent", "leave", "staff"))
"""The routes of the web server; no noun and no document may have such a name."""

_RESERVED = frozenset(
    (
        *("model", "at", "database", "events", "record", "help"),  # options of the console
        *("channel", "start", "script", "greeting", "turns", "end"),  # keys of conversation files
        *("version", "patch", "base_version", "unchanged"),  # fields of replies
        *_WEB_ROUTES,
    )
)
"""Words that cannot be a noun: they are options, keys or fields beside it."""


class AppFaults(InputError):
    """The declaration of an application is invalid; ``faults`` lists each fault with its remedy."""


def declaration_faults(
    kind: type[Any], positional: Sequence[object], given: Mapping[str, Any]
) -> list[str]:
    """List everything that is wrong with the arguments of an application.

    Args:
        kind: The class ``App``.
        positional: The arguments without a name; there should be none.
        given: The arguments by name.
    """
    declared = {field.name: field for field in fields(kind)}
    hints = _hints(kind)
    values = {name: given.get(name, _default(field)) for name, field in declared.items()}
    found = {
        name: [f"{name}: is missing: {_wanted(hints[name])}"]
        if value is MISSING
        else list(_misfits(name, value, hints[name]))
        for name, value in values.items()
    }
    faults = ["App takes named arguments only, as name=..."] if positional else []
    faults += [_unknown(name, declared) for name in given if name not in declared]
    faults += [fault for some in found.values() for fault in some]
    return [*faults, *_joint_faults(SimpleNamespace(**values), {*filter(found.get, found)})]


def _is_model(state: object) -> TypeGuard[type[BaseModel]]:
    return isinstance(state, type) and issubclass(state, BaseModel)


def _unknown(name: str, declared: Collection[str]) -> str:
    near = get_close_matches(name, declared, 1)
    hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(declared)}"
    return f"{name}: App has no such argument: {hint}"


def faults_of_graph(app: Any, graph: Any, state: type[BaseModel] | None) -> Iterator[str]:
    """Find where the graph, ``models`` and the state do not fit together.

    Args:
        app: All arguments.
        graph: The graph.
        state: The model of the state; ``None`` leaves out the checks that need it.
    """
    if isinstance(app.models, Mapping) and (
        unknown := [name for name in app.models if name not in graph.agents]
    ):
        known = ", ".join(graph.agents)
        yield f"models: there is no agent {', '.join(unknown)}: there are {known}"
    if state is not None:
        yield from _faults_of_fields(app, graph, state)


def faults_of_state(state: object, *, is_view: bool) -> Iterator[str]:
    """Find the reasons why a class cannot be the model of a state.

    Args:
        state: The class.
        is_view: Whether clients are shown its fields, as the application has no view of its own.
    """
    if not _is_model(state):
        yield f"state: has to be a pydantic model, not {_described(state)}"
    else:
        from state.shared.shapes import model_faults

        yield from (f"state: {fault}" for fault in model_faults(state))
        shown = {*state.model_fields, *state.model_computed_fields} if is_view else set()
        for name in sorted(shown & {"version", "active_agent"}):
            yield f'state: every view has its own "{name}": rename the field, or give a view without it'


# -- the arguments one by one ----------------------------------------------------------------------


class _Unresolved:
    """A placeholder for a name that is imported for type checkers only; every value fits it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name

    def __getitem__(self, item: object) -> "_Unresolved":
        return self

    def __getattr__(self, name: str) -> "_Unresolved":
        if name.startswith("__"):
            raise AttributeError(name)
        return _Unresolved(name)

    def __or__(self, other: object) -> "_Unresolved":
        return self

    __ror__ = __or__

    def __call__(self) -> None:
        """Exist: ``typing`` accepts only callables as types."""


class _Names(dict[str, Any]):
    """The names in a module's annotations."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, _Unresolved(name))


def _hints(kind: type[Any]) -> dict[str, Any]:
    return get_type_hints(kind, localns=_Names(vars(sys.modules[kind.__module__])))


def _default(field: "Field[Any]") -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _misfits(name: str, value: Any, hint: Any) -> Iterator[str]:
    """Find where a value does not fit an annotation, as far as possible without calling it."""
    origin, arguments = get_origin(hint), get_args(hint)
    kind: Any = origin or hint
    inside: Any = value
    if origin in (Union, UnionType):
        found = {one: list(_misfits(name, value, one)) for one in arguments}
        if all(found.values()):
            called = [one for one in arguments if get_origin(one) is Callable and callable(value)]
            yield from found[called[0]] if called else [_misfit(name, value, hint)]
    elif origin is Callable:
        if not callable(value):
            yield _misfit(name, value, hint)
        elif why := _why_not_called(value, *arguments):
            yield f"{name}: {_described(value)} {why}"
    elif origin is type:
        below = arguments[0] if isinstance(arguments[0], type) else object
        if not (isinstance(value, type) and issubclass(value, below)):
            yield _misfit(name, value, hint)
    elif not isinstance(kind, type):  # a name or a type variable: anything fits
        return
    elif not isinstance(value, kind) or (isinstance(value, str) and kind is not str):
        yield _misfit(name, value, hint)
    elif kind is tuple and ... not in arguments:
        if len(inside) != len(arguments):
            yield f"{name}: has to have {len(arguments)} members"
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from _misfits(f"{name}[{key!r}]", key, arguments[0])
            yield from _misfits(f"{name}[{key!r}]", one, arguments[1])
    elif issubclass(kind, Collection) and kind is not str:
        for place, one in enumerate(inside):
            yield from _misfits(f"{name}[{place}]", one, arguments[0])
    elif is_dataclass(kind):
        for inner, one in _hints(kind).items():
            yield from _misfits(f"{name}.{inner}", getattr(value, inner), one)


def _misfit(name: str, value: Any, hint: Any) -> str:
    return f"{name}: has to be {_wanted(hint)}, not {_described(value)}"


_PLAIN: Mapping[Any, str] = {str: "a text", int: "a whole number", NoneType: "None"}


def _wanted(hint: Any) -> str:
    """Describe the values that fit an annotation."""
    origin, arguments = get_origin(hint), get_args(hint)
    kind: Any = origin or hint
    if origin in (Union, UnionType):
        return " or ".join(map(_wanted, arguments))
    if origin is Callable:
        return f"a function ({', '.join(map(_shown, arguments[0]))})"
    if origin is type:
        below = arguments[0]
        return f"a class below {below.__name__}" if isinstance(below, type) else "a class"
    if not isinstance(kind, type):
        return f"{kind}(...)"
    if kind not in _PLAIN and issubclass(kind, Collection):
        return "a mapping" if issubclass(kind, Mapping) else "a list or tuple"
    return _PLAIN.get(kind, f"{kind.__name__}(...), of {kind.__module__}")


def _why_not_called(value: Any, takes: Sequence[Any], returns: Any) -> str | None:
    if iscoroutinefunction(value) and get_origin(returns) is not Awaitable:
        return "is async: it has to return at once"
    try:
        signature(value).bind(*takes)
    except TypeError:
        return f"has to take ({', '.join(map(_shown, takes))})"
    except ValueError:  # a builtin function without a signature
        return None
    return None


def _shown(annotation: Any) -> str:
    """Return the annotation of a function's argument for a message."""
    if isinstance(annotation, TypeVar):
        return {"S": "state", "C": "context"}.get(annotation.__name__, annotation.__name__)
    if isinstance(annotation, type) and not get_args(annotation):
        return annotation.__name__
    return re.sub(r"~|\b(?:\w+\.)+(?=\w)", "", str(annotation))


def _described(value: Any) -> str:
    """Describe a value: a function by name and place, a class by name, another object by its class."""
    code = getattr(unwrap(value), "__code__", None) if callable(value) else None
    if code is not None:
        return f"{value.__name__} ({file_and_line(code.co_filename, code.co_firstlineno)})"
    if value is None or isinstance(value, str | int):
        return shorten(repr(value), 60)
    return value.__name__ if isinstance(value, type) else f"an object of {type(value).__name__}"


# -- the arguments together ------------------------------------------------------------------------


def _joint_faults(app: Any, wrong: Collection[str]) -> Iterator[str]:
    """Check arguments that each have their type.

    Args:
        app: All arguments.
        wrong: The names of those that do not have their type: checks that need them are left out.
    """

    def right(*names: str) -> bool:
        return not any(name in wrong for name in names)

    yield from _faults_of_names(app, right)
    if right("state") and isinstance(app.state, type):
        yield from faults_of_state(app.state, is_view=app.view is None)
    if right("schema", "migrate") and (app.schema < 1 or {*app.migrate} != {*range(1, app.schema)}):
        # Imported late, so that the help and the worker start faster.
        from state.shared.schema import schema_faults

        yield from schema_faults(app.schema, app.migrate)
    if right("page", "roles", "objects", "methods"):
        good = right("noun") and _WORD.fullmatch(app.noun)
        yield from _faults_of_page(app, app.noun if good else "state")
    if right("graph") and (not callable(app.graph) or isinstance(app.graph, type)):
        from agents.handoff import Graph

        if not isinstance(app.graph, Graph):
            yield f"graph: has to be Graph(...), of {Graph.__module__}, not {_described(app.graph)}"
        else:
            known = right("state", "roles", "forgetting") and _is_model(app.state)
            yield from faults_of_graph(app, app.graph, app.state if known else None)
    if right("settings"):
        yield from _faults_of_settings(app, right)


def _faults_of_names(app: Any, right: Callable[..., bool]) -> Iterator[str]:
    forms = {"name": (_NAME, "words in lower case joined by hyphens, as front-desk")}
    forms |= dict.fromkeys(
        ("noun", "plural", "prefix"), (_WORD, "one word in lower case, as visit")
    )
    for what, (form, wanted) in forms.items():
        if right(what) and not form.fullmatch(getattr(app, what)):
            yield f'{what}: "{getattr(app, what)}" has to be {wanted}'
    if right("plural") and app.plural in COMMANDS:
        yield f'plural: "{app.plural}" is a command already: {", ".join(COMMANDS)}'
    if right("noun", "plural") and app.noun == app.plural:
        yield f'plural: has to differ from the noun "{app.noun}"'
    if right("web", "noun"):
        for name in app.web.documents.keys() & {*_WEB_ROUTES, app.noun}:
            yield f'web.documents: "{name}" is a route of the web server already'
    options = app.command_line.options if right("command_line") else ()
    if right("noun") and app.noun in (*_RESERVED, *options):
        taken = (
            "is an option, a key of conversation files or a field of replies: choose another word"
        )
        yield f'noun: "{app.noun}" {taken}'


def _faults_of_page(app: Any, noun: str) -> Iterator[str]:
    replaced = [name for name in ("roles", "objects", "methods") if getattr(app, name)]
    if not replaced:
        return
    if app.page is not None:
        yield f"page: replaces {', '.join(replaced)}: give only one of them"
        return
    from rpc.page import ObjectType, PageFaults, PageMethod, PageSpec

    given: list[tuple[str, Any, Any, type[Any]]]
    given = [("objects", name, one, ObjectType) for name, one in app.objects.items()]
    given += [("methods", place, one, PageMethod) for place, one in enumerate(app.methods)]
    strange = [
        f"{what}[{at!r}]: has to be {kind.__name__}(...), of rpc.page"
        for what, at, one, kind in given
        if type(one) is not kind
    ]
    if strange:
        yield from strange
        return
    try:
        arguments: dict[str, Any] = {**page_arguments(app, lambda *shown: {}), "noun": noun}
        PageSpec(**arguments)
    except PageFaults as error:
        yield from (f"roles, objects, methods: {fault}" for fault in error.faults)


def page_arguments(app: Any, view: Callable[..., Any]) -> dict[str, Any]:
    """Return the arguments of the ``PageSpec`` for an application's roles, objects and methods."""
    return {
        "noun": app.noun,
        "view": view,
        "view_form": app.view_form,
        "roles": app.roles or {"user": ()},
        "user": next(iter(app.roles), "user"),
        "objects": app.objects,
        "methods": tuple(app.methods),
    }


def _faults_of_fields(app: Any, graph: Any, state: type[BaseModel]) -> Iterator[str]:
    """Check that commands and reads are for this state, and that ``forgetting.identifying`` fields exist."""
    from state.shared.shapes import shape_of

    tools = {f"roles[{role!r}]": kinds for role, kinds in app.roles.items()}
    tools |= {f"graph: {name} offers": graph.offers(name) for name in graph.agents}
    models = {*shape_of(state).models}
    for where, kinds in tools.items():
        for kind in kinds:
            if not _is_model(kind):  # reported with the page
                continue
            models |= shape_of(kind).models
            of = _state_of(kind)
            if of is not None and not issubclass(state, of):
                yield f"{where}: {kind.__name__} is for the state {of.__name__}, not {state.__name__}"
    known = {name for model in models for name in model.model_fields} | {"said"}
    if missing := [name for name in app.forgetting.identifying if name not in known]:
        yield (
            f"forgetting.identifying: no field is called {', '.join(missing)}, neither in"
            f" {state.__name__} nor in a command"
        )


def _state_of(tool: type[BaseModel]) -> type[BaseModel] | None:
    """Return the state that a command or a read is declared for; ``None`` if for any."""
    for base in tool.__mro__:
        of = getattr(base, "__pydantic_generic_metadata__", {}).get("args", ())
        if len(of) == 2 and isinstance(of[0], type) and issubclass(of[0], BaseModel):
            return of[0]
    return None


def _faults_of_settings(app: Any, right: Callable[..., bool]) -> Iterator[str]:
    settings: type[AppSettings] = app.settings
    if settings is not AppSettings and not settings.model_config.get("env_prefix"):
        prefix = str(app.name).replace("-", "_").upper()
        yield (
            f"settings: {settings.__name__} has no prefix of the environment variables: add"
            f' model_config = SettingsConfigDict(env_prefix="{prefix}_")'
        )
    options = app.command_line.options if right("command_line") else ()
    if missing := [name for name in options if name not in settings.model_fields]:
        yield f"command_line.options: {settings.__name__} has no field {', '.join(missing)}"


# -- exceptions of its functions -------------------------------------------------------------------


@contextmanager
def named_faults(
    what: str,
    secrets: Sequence[str] = (),
    *,
    with_text: bool = True,
    but: tuple[type[Exception], ...] = (),
) -> Iterator[None]:
    """Convert exceptions of an application's function into ``AppFaults`` that name it and the place.

    Args:
        what: The argument of ``App`` that holds the function.
        secrets: Texts to redact.
        with_text: Whether the exception's text is shown; it must not be if it may hold a user's words.
        but: Exceptions that are not converted, besides ``InputError``.
    """
    try:
        yield
    except Exception as error:  # of any type: the application raised it
        if isinstance(error, (InputError, *but)):
            raise
        faults = getattr(error, "faults", None) or (_describe_error(error, with_text=with_text),)
        for secret in secrets:
            faults = [one.replace(secret, "[secret]") for one in faults]
        raise AppFaults(f"{what}: {one}" for one in faults) from error


def of_kind(what: str, made: T, kind: type[Any]) -> T:
    """Return a value that an application's function has returned, once its type is checked.

    Raises:
        AppFaults: The value is not an instance of this class.
    """
    if not isinstance(made, kind):
        raise AppFaults([f"{what}: it returned {_described(made)}, not {kind.__name__}"])
    return made


def attempt(what: str, default: T, function: Callable[..., T], *arguments: Any) -> T:
    """Call an application's function and return its result, or a default if it fails.

    Args:
        what: The argument of ``App`` that holds the function.
        default: The result if the function fails.
        function: The function.
        arguments: Its arguments.
    """
    try:
        return function(*arguments)
    except Exception:  # of any type: an error of the application must not end the call
        message = "application function failed, using the default: %s"
        logger.exception(message, what, extra={"function": what})
        return default


def texts_from(
    what: str, function: Callable[..., Mapping[str, Any]], *arguments: Any
) -> dict[str, str]:
    """Return the texts that an application's function returns by name; other values are ignored.

    Args:
        what: The argument of ``App`` that holds the function.
        function: The function.
        arguments: Its arguments.
    """
    made = function(*arguments)
    for name, value in made.items():
        if not isinstance(value, str):
            logger.error(
                "invalid value ignored: %s: %s returned %s for %s, not a text",
                *(what, _described(function), type(value).__name__, name),
            )
    return {name: value for name, value in made.items() if isinstance(value, str)}


def _describe_error(error: Exception, *, with_text: bool) -> str:
    message = str(error)
    if isinstance(error, ValidationError):
        from state.shared import explained

        places = (f"{'.'.join(map(str, one['loc']))} {explained(one)}" for one in error.errors())
        message = f"{error.title}: {', '.join(places)}"
    text = f": {' '.join(message.split())}" if with_text else ""
    return f"{type(error).__name__}{text} ({place_of(error.__traceback__)})"
