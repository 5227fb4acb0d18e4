"""Imports have no circle, those for type checkers and those within functions included."""

import tomllib
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

PROJECT = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
ROOTS = PROJECT["tool"]["importlinter"]["root_packages"]

CIRCULAR = {"bella_vista.local"}
"""Packages whose parts import one another: ``english`` and ``understanding``."""


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    """The imports of all modules."""
    return grimp.build_graph(*ROOTS, cache_dir=None)


def test_no_module_imports_itself_by_way_of_others(graph: grimp.ImportGraph) -> None:
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}

    assert len(imports) > 300
    TopologicalSorter(imports).prepare()  # raises an error that names the circle


def test_no_part_of_a_package_imports_itself_by_way_of_the_others(graph: grimp.ImportGraph) -> None:
    packages = {module for module in graph.modules if graph.find_children(module)} - CIRCULAR

    assert {"agents.app", "agents.handoff", "rpc", "state"} <= packages
    for package in packages:
        imports = dict(_imports_between_parts(graph, package))
        TopologicalSorter(imports).prepare()  # raises an error that names the circle


def _imports_between_parts(
    graph: grimp.ImportGraph, package: str
) -> Iterator[tuple[str, set[str]]]:
    """Find which parts of a package, modules or packages, each part imports."""
    modules_of = {
        part: {part, *graph.find_descendants(part)} for part in graph.find_children(package)
    }
    for part, modules in modules_of.items():
        imported = {
            one for module in modules for one in graph.find_modules_directly_imported_by(module)
        }
        yield (
            part,
            {other for other in modules_of if other != part and imported & modules_of[other]},
        )
