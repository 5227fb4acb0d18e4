"""Builds the framework as one wheel under one import name of its own.

The packages of this repository have the names ``agents``, ``rpc`` and ``state``, which other
distributions use too. ``[tool.wheel]`` in ``pyproject.toml`` says which of them the wheel has, under which
names, and what it needs.
"""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]

_REPOSITORY = ("agents", "bella_vista", "examples", "rpc", "state", "tests")
"""The packages of this repository: none of them exists beside the wheel."""
_NOT_COPIED = shutil.ignore_patterns("__pycache__", ".*")
_MARKER = "py.typed"
_PYPROJECT = """\
[project]
name = {name}
version = {version}
description = {description}
readme = "README.md"
requires-python = {python}
classifiers = ["Private :: Do Not Upload", "Programming Language :: Python :: 3", "Typing :: Typed"]
dependencies = {dependencies}

[project.optional-dependencies]
{extras}

[build-system]
requires = {backend}
build-backend = "uv_build"

[tool.uv.build-backend]
module-root = ""
module-name = {package}
"""


class WheelError(Exception):
    """The wheel cannot be built."""


@dataclass(frozen=True)
class Plan:
    """What the wheel is made of, read from ``pyproject.toml``.

    Args:
        name: The distribution's name.
        description: One sentence.
        packages: The wheel's name of each package, by its name in this repository.
        dependencies: What it needs, with versions.
        extras: What each extra needs in addition, with versions.
        version: The version.
        python: The Python versions it runs on.
        backend: What builds it.
    """

    name: str
    description: str
    packages: Mapping[str, str]
    dependencies: tuple[str, ...]
    extras: Mapping[str, tuple[str, ...]]
    version: str
    python: str
    backend: tuple[str, ...]

    @classmethod
    def read(cls, root: Path = ROOT) -> "Plan":
        """Read the plan; versions are those of the project's own dependencies, its tests' included.

        Raises:
            WheelError: It names what is no dependency of the project.
        """
        text = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
        project, wheel = text["project"], text["tool"]["wheel"]
        known = [*text.get("dependency-groups", {}).get("dev", ()), *project["dependencies"]]
        versions = {Requirement(one).name: one for one in known}

        def pinned(names: Iterable[str]) -> tuple[str, ...]:
            if missing := sorted(set(names) - versions.keys()):
                raise WheelError(
                    f"[tool.wheel]: no dependency of the project: {', '.join(missing)}"
                )
            return tuple(versions[name] for name in names)

        package = wheel["name"].replace("-", "_")
        return cls(
            name=wheel["name"],
            description=wheel["description"],
            packages={ours: f"{package}.{theirs}" for ours, theirs in wheel["packages"].items()},
            dependencies=pinned(wheel["dependencies"]),
            extras={extra: pinned(names) for extra, names in wheel["extras"].items()},
            version=project["version"],
            python=project["requires-python"],
            backend=tuple(text["build-system"]["requires"]),
        )

    @property
    def package(self) -> str:
        """The import name."""
        return self.name.replace("-", "_")

    def rewritten(self, text: str) -> str:
        """Replace every package's name in a text: in imports, strings and prose.

        >>> plan = Plan("my-kit", "", {"state.shared": "my_kit.state"}, (), {}, "1", ">=3", ())
        >>> plan.rewritten("from state.shared.errors import E; import livekit.state.shared")
        'from my_kit.state.errors import E; import livekit.state.shared'
        """
        names = "|".join(map(re.escape, self.packages))
        return re.sub(rf"(?<![\w.])({names})(?!\w)", lambda found: self.packages[found[1]], text)

    def copy(self, source: Path, target: Path, beside: Collection[str] = ()) -> None:
        """Copy a package or any other folder with all names replaced.

        Args:
            source: The folder.
            target: The folder to make.
            beside: Packages of this repository that may be imported under their own names.

        Raises:
            WheelError: A module imports what is neither in the wheel nor another distribution's.
        """
        shutil.copytree(source, target, ignore=_NOT_COPIED)
        faults: list[str] = []
        for path in sorted(target.rglob("*")):
            if path.suffix not in (".py", ".mako", ".md"):
                continue
            text = self.rewritten(path.read_text(encoding="utf-8"))
            path.write_text(text, encoding="utf-8")
            if path.suffix == ".py":
                faults += (
                    f"{source / path.relative_to(target)} imports {name}"
                    for name in _imported(ast.parse(text))
                    if name.partition(".")[0] in {*_REPOSITORY} - {*beside}
                )
        if faults:
            raise WheelError("\n".join(faults))

    def lay_out(self, folder: Path, root: Path = ROOT) -> None:
        """Write what a build backend makes the wheel from.

        Args:
            folder: An empty folder.
            root: This repository.
        """
        package = folder / self.package
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(f'"""{self.description}"""\n', encoding="utf-8")
        (package / _MARKER).touch()
        for ours, theirs in self.packages.items():
            source = root.joinpath(*ours.split("."))
            self.copy(source, folder.joinpath(*theirs.split(".")))
        page = (root / "docs" / "wheel.md").read_text(encoding="utf-8")
        (folder / "README.md").write_text(page, encoding="utf-8")
        (folder / "pyproject.toml").write_text(self._pyproject(), encoding="utf-8")

    def _pyproject(self) -> str:
        given = {
            "name": self.name,
            "version": self.version,
            "description": self.description,
            "python": self.python,
            "dependencies": list(self.dependencies),
            "backend": list(self.backend),
            "package": self.package,
        }
        # Strings and lists of strings are written in JSON as in TOML.
        return _PYPROJECT.format(
            **{name: json.dumps(value) for name, value in given.items()},
            extras="\n".join(
                f"{name} = {json.dumps([*names])}" for name, names in self.extras.items()
            ),
        )


def build(into: Path, work: Path) -> Path:
    """Build the wheel; the same sources give the same bytes.

    Args:
        into: The folder to put it in.
        work: An empty folder to work in.

    Returns:
        Its file.

    Raises:
        WheelError: It cannot be built.
    """
    plan = Plan.read()
    plan.lay_out(work)
    into.mkdir(parents=True, exist_ok=True)
    program = Path(sys.executable).with_name("uv-build")  # the backend that the lock file pins
    done = subprocess.run(
        [program, "build-wheel", str(into.resolve())],
        cwd=work,
        env={**os.environ, "SOURCE_DATE_EPOCH": "0"},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise WheelError(done.stderr.strip())
    return into / done.stdout.split()[-1]


def _imported(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""
