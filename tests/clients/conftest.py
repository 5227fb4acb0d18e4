"""The pages of the clients' tests, built."""

from pathlib import Path

import pytest

from tests.clients.toolchain import run_node


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages in clients/core/tests/room."""
    folder = tmp_path_factory.mktemp("pages")
    run_node("node_modules/vite/bin/vite.js", "build", "core/tests/room", "--outDir", folder)
    return folder


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The restaurant's page, built."""
    folder = tmp_path_factory.mktemp("page")
    run_node("node_modules/vite/bin/vite.js", "build", "web", "--outDir", folder)
    return folder
