"""Imports between modules have no circle, those for type checkers and those within functions included."""

import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import grimp

PROJECT = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
ROOTS = PROJECT["tool"]["importlinter"]["root_packages"]


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = grimp.build_graph(*ROOTS, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}

    assert len(imports) > 300
    TopologicalSorter(imports).prepare()  # raises an error that names the circle
