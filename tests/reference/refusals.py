"""What each command can be refused with: every error that the code it calls makes.

Read from the source, by the names of what is called; so a page can be complete without anybody keeping
a list.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from state import errors
from state.commands import OrderCommand

ROOT = Path(__file__).parents[2]

_ERRORS = {
    name: kind.code
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, errors.OrderError)
}
_NOT_FOLLOWED = frozenset(
    {
        ("wrong_stage", "needs"),  # asked for the facts of an error; what it makes is not raised
        ("line_of", "line"),  # an order's line, not the kitchen's
    }
)


@dataclass(frozen=True)
class _Function:
    owner: str | None
    name: str
    calls: frozenset[tuple[bool, str]]
    """Whether as a method, and which."""


@cache
def refusals(command: type[OrderCommand]) -> tuple[str, ...]:
    """Return the codes a command can be refused with, in the order of ``state.errors``."""
    found: set[str] = set()
    seen: set[_Function] = set()
    to_visit = [
        function
        for kind in command.__mro__
        for function in _functions()
        if function.owner == kind.__name__ and function.name in vars(kind)
        if function.name in ("change", "touches") and function.owner != OrderCommand.__name__
    ]
    while to_visit:
        function = to_visit.pop()
        if function in seen:
            continue
        seen.add(function)
        for method, name in function.calls:
            if name in _ERRORS:
                found.add(name)
            elif (function.name, name) not in _NOT_FOLLOWED:
                to_visit += _called(method, name)
    return tuple(code for name, code in _ERRORS.items() if name in found)


def _called(method: bool, name: str) -> list[_Function]:
    if name == "change":  # a command's own, which are found by its bases
        return []
    return [one for one in _functions() if one.name == name and (one.owner is not None) == method]


@cache
def _functions() -> tuple[_Function, ...]:
    found: list[_Function] = []
    for path in sorted((ROOT / "state").rglob("*.py")):
        if "shared" not in path.parts:
            found += _of_body(ast.parse(path.read_text(encoding="utf-8")).body, None)
    return tuple(found)


def _of_body(body: list[ast.stmt], owner: str | None) -> Iterator[_Function]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _of_body(node.body, node.name)
        elif isinstance(node, ast.FunctionDef):
            yield _Function(owner, node.name, frozenset(_calls(node)))


def _calls(node: ast.AST) -> Iterator[tuple[bool, str]]:
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
            yield False, part.func.id
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            yield True, part.func.attr
