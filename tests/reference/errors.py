"""Everything that can be answered instead of doing what was asked, as a page."""

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from types import ModuleType

from agents.handoff import failures
from state import errors
from state.shared import StateError
from state.shared import errors as shared_errors
from tests.reference.docstrings import summary

_BRANCH = re.compile(r"^ +\* (\w+) +(.*)$")
_TO_DO: Mapping[str, str] = {
    "Refused": "read the reason; each application draws its own errors below it",
    "Stale": "look at the present version, decide again",
    "KeyReused": "take a new key",
    "Busy": "try again",
    "NotStored": "try again in a moment",
    "Unstorable": "do something else",
    "OutcomeUnknown": "ask again with the same key, or look at the state first",
    "TakenOver": "stop; the other process goes on",
    "UnknownState": "check the id",
    "OtherOwner": "leave it alone",
    "LeaseHeld": "leave; another agent is there",
    "LeaseLost": "stop; another agent is there",
    "JournalFault": "have a person look at the database",
    "Abandoned": "nothing; what was given up changes nothing more",
    "NotAnswered": "tell the guest, wait for the answer",
    "HandoffTaken": "nothing; the handoff is on its way",
    "NoWayBack": "go on yourself",
    "CallEnding": "say goodbye",
    "SiblingFailed": "tell the guest what was not done",
    "Interrupted": "answer what the guest has said since",
    "TooManyHandoffs": "answer yourself",
}


def errors_page() -> str:
    """List every error by its code, with its meaning, its facts and what to do."""
    return "\n\n".join(
        f"## {title}\n\n{_of_module(module)}"
        for title, module in (
            ("The order's rules", errors),
            ("The shared state", shared_errors),
            ("Handoffs and tools", failures),
        )
    )


def _of_module(module: ModuleType) -> str:
    tree = _branches(module.__doc__ or "") if module is errors else {}
    rows = [
        "| Code | Class | Meaning | Facts | Retryable | What to do |",
        "|---|---|---|---|---|---|",
    ]
    for name, kind in vars(module).items():
        if not inspect.isclass(kind) or not issubclass(kind, StateError):
            continue
        if kind.__module__ != module.__name__ or kind in (StateError, errors.OrderError):
            continue
        to_do, facts = tree.get(name) or (_TO_DO[name], ", ".join(_facts(kind)))
        again = "yes" if kind.retryable else "no"
        meaning = summary(kind.__doc__ or "")
        rows.append(f"| `{kind.code}` | `{name}` | {meaning} | {facts} | {again} | {to_do} |")
    return "\n".join(rows)


def _facts(kind: type[StateError]) -> Iterator[str]:
    """Name the facts that an error's constructor gives, if it has one of its own."""
    if kind is failures.NotAnswered:
        yield "`needs`"  # given where it is raised
    if "__init__" in vars(kind):
        tree = ast.parse(inspect.getsource(kind))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "__init__":
                yield from (f"`{given.arg}`" for given in node.keywords if given.arg)


def _branches(text: str) -> dict[str, tuple[str, str]]:
    """Read the tree at the top of the order's errors: what to do, and the facts."""
    found: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        branch = _BRANCH.match(line)
        if branch is not None:
            name = branch[1]
            found[name] = branch[2]
        elif name and line.startswith("      "):
            found[name] += f"; {line.strip()}"
        else:
            name = ""
    return {name: _split(re.sub(r"``([^`]+)``", r"`\1`", said)) for name, said in found.items()}


def _split(said: str) -> tuple[str, str]:
    to_do, _, facts = said.partition("; facts: ")
    return to_do, facts
