"""Waiting for a condition, with a report of what happened when it never holds."""

import ast
import asyncio
import functools
import inspect
import linecache
import time
from collections.abc import Callable, Iterator
from types import CodeType, MethodType
from typing import Any, Protocol, runtime_checkable

_ROUNDS = 100_000
"""How often the event loop goes round before a condition without a time limit is given up."""
_POLL_S = 0.01
_LONGEST = 2_000
"""How many characters of one value a report shows: its end, where the newest is."""


class ConversationError(AssertionError):
    """What a test waited for did not happen."""


@runtime_checkable
class Reporting(Protocol):
    """An object that tells a failed test what happened to it."""

    def what_happened(self) -> str:
        """Return a line for each thing that happened, in order."""
        ...


async def until(
    condition: Callable[[], object], seconds: float | None = None, what: str = ""
) -> None:
    """Wait until a condition holds; use it instead of sleeping.

    The error names the condition as it is written, the values it compared, and what happened to
    the objects it read from, as far as they have a ``what_happened`` method: a ``Conversation``
    and a ``ScriptedLLM`` have one.

    Args:
        condition: Called again and again; a true result ends the wait.
        seconds: The time limit. Without it the event loop goes round 100,000 times, which suits
            a conversation that waits for nothing outside this process.
        what: Names the condition where its source does not.

    Raises:
        ConversationError: The condition never held.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    rounds = 0
    while not condition():
        rounds += 1
        if deadline is None:
            if rounds == _ROUNDS:
                raise ConversationError(report(condition, f"{_ROUNDS:,} rounds of the loop", what))
            await asyncio.sleep(0)
        else:
            if time.monotonic() > deadline:
                raise ConversationError(report(condition, f"{seconds:g} s", what))
            await asyncio.sleep(_POLL_S)


def report(condition: Callable[[], object], limit: str, what: str = "") -> str:
    """Describe a condition that did not hold, and what happened meanwhile.

    Args:
        condition: The condition; its parts are evaluated once more.
        limit: The limit that was reached, such as ``"30 s"``.
        what: Names the condition where its source does not.
    """
    function, scope = _opened(condition)
    code: CodeType | None = getattr(function, "__code__", None)
    body = _body(code) if code else None
    source = ast.unparse(body) if body else f"{code.co_qualname}()" if code else repr(condition)
    lines = [f"{what or source} did not come about within {limit}"]
    if what:
        lines.append(f"  waited for: {source}")
    if body:
        names = {**function.__globals__, **scope}
        lines += [f"  {part} = {_evaluated(part, names)}" for part in _parts(body)]
    for name, value in scope.items():
        if isinstance(value, Reporting) and not isinstance(value, type):
            lines.append(f"  what happened to {name}:")
            lines += [f"    {line}" for line in value.what_happened().splitlines()]
        elif not callable(value):
            lines.append(f"  {name} = {_shown(value)}")
    return "\n".join(lines)


def _opened(condition: Any) -> tuple[Any, dict[str, Any]]:
    """Return the function behind a condition, and the values it was made with."""
    scope: dict[str, Any] = {}
    while not inspect.isfunction(condition):
        if isinstance(condition, functools.partial):
            scope |= {f"argument {number}": one for number, one in enumerate(condition.args, 1)}
            scope |= condition.keywords
            condition = condition.func
        elif isinstance(condition, MethodType):
            scope["self"] = condition.__self__
            condition = condition.__func__
        else:
            return condition, scope
    return condition, {**scope, **inspect.getclosurevars(condition).nonlocals}


def _body(code: CodeType) -> ast.expr | None:
    """Return the expression of a lambda; nothing where its source is not to be had."""
    spans = [
        ((line, column), (last_line, last_column))
        for line, last_line, column, last_column in code.co_positions()
        if line and last_line and last_column and column is not None
    ]
    if code.co_name != "<lambda>" or not spans:
        return None
    (first, start), (last, end) = min(one for one, _ in spans), max(one for _, one in spans)
    numbers = range(first, last + 1)
    lines = [linecache.getline(code.co_filename, number).encode() for number in numbers]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    try:
        return ast.parse(b"(" + b"".join(lines) + b"\n)", mode="eval").body
    except SyntaxError:
        return None


def _parts(body: ast.expr) -> Iterator[str]:
    """Return the parts of an expression that are compared or taken together."""
    waiting = [body]
    while waiting:
        part = waiting.pop(0)
        if isinstance(part, ast.BoolOp):
            waiting = [*part.values, *waiting]
        elif isinstance(part, ast.UnaryOp):
            waiting = [part.operand, *waiting]
        elif isinstance(part, ast.Compare):
            waiting = [part.left, *part.comparators, *waiting]
        elif not isinstance(part, ast.Constant | ast.Name):
            yield ast.unparse(part)


def _evaluated(part: str, names: dict[str, Any]) -> str:
    try:
        return _shown(eval(part, names))
    except Exception as error:  # a later part may hold only where an earlier one does
        return f"{type(error).__name__}: {error}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"...{text[-_LONGEST:]}"
