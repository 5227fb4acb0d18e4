"""The public names of a package, as a page: signature, meaning, arguments and errors of each.

Read from the source, so that aliases and constants have their say too: the text that follows them.
"""

import ast
import importlib
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache
from pathlib import Path

from tests.reference.docstrings import markdown, summary

ROOT = Path(__file__).parents[2]

Function = ast.FunctionDef | ast.AsyncFunctionDef

LONG = 60
"""A field with a default that is longer than this is shown in a line of its own."""


class Undocumented(Exception):
    """Public names that do not say what they mean."""


def package_page(package: str) -> str:
    """Describe every public name of a package, by the module that defines it.

    Raises:
        Undocumented: Some of them, or of their methods, have no docstring.
    """
    return modules_page(_origins(package))


def modules_page(names_of: Mapping[str, Sequence[str]]) -> str:
    """Describe names of modules.

    Args:
        names_of: The names by module.

    Raises:
        Undocumented: Some of them, or of their methods, have no docstring.
    """
    missing: list[str] = []
    parts: list[str] = []
    for module, names in names_of.items():
        parts.append(f"## `{module}`\n\n{markdown(ast.get_docstring(_tree(module)) or '')}")
        parts += [_described(module, name, missing) for name in names]
    if missing:
        raise Undocumented(", ".join(missing))
    return "\n\n".join(parts)


def public_names(package: str) -> set[str]:
    """Name everything that a package's page describes."""
    return {name for names in _origins(package).values() for name in names}


@cache
def _origins(package: str) -> dict[str, list[str]]:
    """Find out which module each public name comes from; a module that is itself public brings its own."""
    public = importlib.import_module(package).__all__
    found: dict[str, list[str]] = {}
    for node in _tree(package).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if alias.name not in public:
                    continue
                whole = f"{node.module}.{alias.name}"
                if node.module == package and _file(whole).exists():
                    found[whole] = [one for one, _ in _defined(whole) if not one.startswith("_")]
                else:
                    found.setdefault(_home(node.module, alias.name), []).append(alias.name)
    return {module: sorted(names) for module, names in sorted(found.items())}


def _home(module: str, name: str) -> str:
    """Follow a name through the packages that pass it on."""
    if name in dict(_defined(module)):
        return module
    for node in _tree(module).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            if any(alias.name == name for alias in node.names):
                return _home(node.module, name)
    raise LookupError(f"{module} does not define {name}")


def _file(module: str) -> Path:
    path = ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(_file(module).read_text(encoding="utf-8"))


@cache
def _defined(module: str) -> tuple[tuple[str, tuple[ast.stmt, str]], ...]:
    return tuple(_statements(_tree(module).body))


def _statements(body: list[ast.stmt]) -> Iterator[tuple[str, tuple[ast.stmt, str]]]:
    """Go through what a body defines, each with its docstring."""
    for place, node in enumerate(body):
        if isinstance(node, ast.ClassDef | Function):
            yield node.name, (node, ast.get_docstring(node) or "")
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name):
                yield target.id, (node, _text_after(body, place))


def _text_after(body: list[ast.stmt], place: int) -> str:
    after = body[place + 1] if place + 1 < len(body) else None
    if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
        return after.value.value if isinstance(after.value.value, str) else ""
    return ""


def _described(module: str, name: str, missing: list[str]) -> str:
    node, docstring = dict(_defined(module))[name]
    if not docstring:
        missing.append(f"{module}.{name}")
    parts = [f"### `{name}`", f"```python\n{_shape(node, module)}\n```", markdown(docstring)]
    if isinstance(node, ast.ClassDef):
        members = list(_all_members(node, module, missing))
        if members:
            parts += ["Members:", "\n".join(members)]
    return "\n\n".join(part for part in parts if part)


def _shape(node: ast.stmt, module: str) -> str:
    if isinstance(node, Function):
        return _signature(node)
    if not isinstance(node, ast.ClassDef):  # as it is written there
        return ast.get_source_segment(_file(module).read_text(encoding="utf-8"), node) or ""
    bases = ", ".join(_public_bases(node, module))
    made = _constructor(node, module)
    lines = [f"class {node.name}({bases})"] if bases or made is None else []
    return "\n".join(lines if made is None else [*lines, f"{node.name}({made})"])


def _public_bases(node: ast.ClassDef, module: str) -> Iterator[str]:
    """List what a class is derived from, with a private class replaced by its own bases."""
    for base in node.bases:
        name = ast.unparse(base)
        if name.startswith("_"):
            private, _ = dict(_defined(module))[name]
            assert isinstance(private, ast.ClassDef)
            yield from _public_bases(private, module)
        else:
            yield name


def _constructor(node: ast.ClassDef, module: str) -> str | None:
    """Return what a class is made with: by its own constructor, its fields, or its base's."""
    own = next((one for one in node.body if _is(one, "__init__")), None)
    if isinstance(own, Function):
        return _arguments(own)
    if fields := [_spaced(ast.unparse(one)) for one in node.body if _is_field(one)]:
        return _listed(fields)
    for base in node.bases:
        found = dict(_defined(module)).get(ast.unparse(base))
        if found is not None and isinstance(found[0], ast.ClassDef):
            return _constructor(found[0], module)
    return None


def _all_members(node: ast.ClassDef, module: str, missing: list[str]) -> Iterator[str]:
    """List what a class defines, after what it inherits from a base class that is not public."""
    own = {name for name, _ in _statements(node.body)}
    for base in node.bases:
        name = ast.unparse(base).partition("[")[0]
        if name.endswith("Base"):
            home = _home(module, name)
            inherited, _ = dict(_defined(home))[name]
            assert isinstance(inherited, ast.ClassDef)
            yield from _members(inherited, f"{home}.{name}", missing, without=own - {"__init__"})
    yield from _members(node, f"{module}.{node.name}", missing)


def _members(
    node: ast.ClassDef, owner: str, missing: list[str], *, without: Set[str] = frozenset()
) -> Iterator[str]:
    for name, (member, docstring) in _statements(node.body):
        if name == "__init__" and isinstance(member, Function):
            yield from _attributes(member)
        if name in without or (name.startswith("_") and name != "__call__"):
            continue
        if isinstance(member, Function):
            if not docstring:
                missing.append(f"{owner}.{name}")
            decorators = {ast.unparse(one) for one in member.decorator_list}
            if decorators & {"property", "cached_property"}:
                gives = f" -> {ast.unparse(member.returns)}" if member.returns else ""
                shape = f"{name}{_spaced(gives)}"
            else:
                shape = _signature(member)
            said = markdown(docstring, "  ").strip()
            yield f"- `{shape}`: {said}"
        elif docstring:
            yield f"- `{_spaced(ast.unparse(member))}`: {summary(docstring)}"
        elif isinstance(member, ast.Assign) and isinstance(member.value, ast.Constant):
            yield f"- `{ast.unparse(member)}`"  # what a base says of it holds here too


def _attributes(constructor: Function) -> Iterator[str]:
    """List the public attributes that a constructor sets and documents."""
    for place, node in enumerate(constructor.body):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            said = _text_after(constructor.body, place)
            if isinstance(target, ast.Attribute) and said and not target.attr.startswith("_"):
                kind = (
                    f": {ast.unparse(node.annotation)}" if isinstance(node, ast.AnnAssign) else ""
                )
                yield f"- `{target.attr}{kind}`: {summary(said)}"


def _signature(node: Function) -> str:
    kind = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
    gives = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{kind}{node.name}({_arguments(node)}){_spaced(gives)}"


def _arguments(node: Function) -> str:
    text = _spaced(ast.unparse(node.args))
    return text.removeprefix("self").removeprefix("cls").removeprefix(", ")


def _spaced(text: str) -> str:
    """Write annotations as people do: spaces around a default, no quotes, plain ``list``."""
    text = re.sub(r"(?<=[\w\]'\"])=(?=[\w'\"(\[{])", " = ", text)
    text = re.sub(r"(?<=[ :\[])'([\w.]+\[[^']+\](?: \| None)?|[A-Z]\w+)'", r"\1", text)
    return text.replace("builtins.", "")


def _listed(fields: list[str]) -> str:
    """Write fields in a line, or in a line each where their defaults are long."""
    if all(len(field) < LONG or "=" not in field for field in fields):
        return ", ".join(fields)
    return "".join(f"\n    {field}," for field in fields) + "\n"


def _is_field(node: ast.stmt) -> bool:
    if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
        return False
    return not node.target.id.startswith("_") and "ClassVar" not in ast.unparse(node.annotation)


def _is(node: ast.stmt, name: str) -> bool:
    return isinstance(node, Function) and node.name == name
