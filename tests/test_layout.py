"""The repository as a whole: whose packages these are, what is pinned, what must not lie about."""

import importlib
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from bella_vista.own_packages import OURS, foreign_packages

ROOT = Path(__file__).parents[1]
LOCKS = ("requirements.lock", "requirements-dev.lock")
PINNED = re.compile(r"^([a-z0-9][a-z0-9.-]*)==(\S+)", re.MULTILINE)


def wanted(*groups: str) -> set[str]:
    text = tomllib.loads((ROOT / "pyproject.toml").read_text())
    asked = [*text["project"]["dependencies"]]
    for group in groups:
        asked += text["dependency-groups"][group]
    return {re.sub(r"[-_.]+", "-", Requirement(one).name).lower() for one in asked}


def ours() -> Iterator[Path]:
    """Every file of this repository, without asking git: it may be missing where this runs."""
    yield from (path for path in ROOT.iterdir() if path.is_file() and path.name != ".env")
    made = {"__pycache__", "node_modules", "dist"}
    for folder in ("bella_vista", *OURS, "examples", "tests", "docs", ".ci", "clients"):
        for place, inside, files in os.walk(ROOT / folder):
            inside[:] = [one for one in inside if one not in made]
            yield from (Path(place, file) for file in files)


@pytest.mark.parametrize("name", ["bella_vista", *OURS])
def test_a_package_is_this_repositorys_own(name: str) -> None:
    (place,) = importlib.import_module(name).__path__

    assert Path(place).resolve() == ROOT / name


@pytest.mark.processes
def test_nothing_starts_with_foreign_packages(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "__init__.py").write_text("")

    done = subprocess.run(
        [sys.executable, "-m", "bella_vista", "--help"],
        cwd=tmp_path,
        env={"PYTHONPATH": f"{tmp_path}:{ROOT}"},
        capture_output=True,
        text=True,
    )

    assert done.returncode == 2
    assert done.stderr == (
        f"the package agents is not this project's own: {(tmp_path / 'agents').resolve()}\n"
    )


FRAMEWORK = (
    "state.documents",
    "state.privacy",
    "state.shared",
    "agents.handoff",
    "rpc.gateway",
    "rpc.page",
    "agents.testing",
    "rpc.testing",
)

STRANGERS_OF = """
import importlib, json, sys
found = {}
for package in json.loads(sys.argv[1]):
    importlib.import_module(package)
    ours = [name for name in sys.modules if name.split(".")[0] in json.loads(sys.argv[2])]
    allowed = json.loads(sys.argv[1])
    found[package] = [
        name for name in ours
        if "." in name and not any(f"{name}.".startswith(f"{one}.") for one in allowed)
    ]
print(json.dumps(found))
"""


@pytest.mark.processes
def test_the_framework_loads_nothing_of_the_restaurant() -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            STRANGERS_OF,
            json.dumps(FRAMEWORK),
            json.dumps(["bella_vista", *OURS]),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert json.loads(done.stdout) == {package: [] for package in FRAMEWORK}


def test_a_package_that_is_nowhere_is_told_so() -> None:
    assert foreign_packages(["no_such_package"]) == (
        "the package no_such_package is not this project's own: there is none",
    )


@pytest.mark.parametrize(
    ("lock", "groups"),
    [("requirements.lock", ["build"]), ("requirements-dev.lock", ["build", "dev"])],
)
def test_a_lock_pins_everything_that_is_asked_for(lock: str, groups: list[str]) -> None:
    pinned = {name for name, _ in PINNED.findall((ROOT / lock).read_text())}

    assert wanted(*groups) <= pinned


def test_both_locks_pin_the_same_versions() -> None:
    run, dev = (dict(PINNED.findall((ROOT / lock).read_text())) for lock in LOCKS)

    assert run.items() <= dev.items()


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_its_hashes(lock: str) -> None:
    pins = re.split(r"^(?=[a-z0-9])", (ROOT / lock).read_text(), flags=re.MULTILINE)

    assert [pin.split()[0] for pin in pins if "==" in pin and "--hash=sha256:" not in pin] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_address(lock: str) -> None:
    assert (
        re.findall(r"https?://|--(?:extra-)?index-url|--find-links", (ROOT / lock).read_text())
        == []
    )


def test_there_is_no_lock_that_names_addresses() -> None:
    assert not (ROOT / "uv.lock").exists()


def test_no_file_depends_on_the_machine_it_was_written_on() -> None:
    places = re.compile(rb"(?<![\w.:/])/(?:work|home|root|Users)/[\w.-]+")

    found = [path for path in ours() if places.search(path.read_bytes())]

    assert [str(path.relative_to(ROOT)) for path in found] == []


def test_tests_are_no_packages() -> None:
    assert list((ROOT / "tests").rglob("__init__.py")) == []


@pytest.mark.parametrize("folder", ["clients", "clients/expo"])
def test_the_clients_lock_names_no_address(folder: str) -> None:
    packages = json.loads((ROOT / folder / "package-lock.json").read_text())["packages"]

    assert [name for name, one in packages.items() if "://" in one.get("resolved", "")] == []
    assert [
        name
        for name, one in packages.items()
        if not one.get("link") and name.startswith("node_modules") and "integrity" not in one
    ] == []
