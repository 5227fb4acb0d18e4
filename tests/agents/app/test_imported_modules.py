import json
import subprocess
import sys
from typing import Any

import pytest

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("clean_folder")]

OURS = ("agents.handoff", "agents.app.rooms", "agents.roster", "bella_vista.local", "rpc", "state")
LIBRARIES = ("babel", "email_validator", "phonenumbers", "rapidfuzz", "sqlalchemy", "yaml")


def told_by(program: str) -> Any:
    """Run a program in a fresh process and read what it prints."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_server_is_made_without_what_only_its_calls_need() -> None:
    loaded = told_by(
        "import json, sys\nimport livekit.agents\nbefore = set(sys.modules)\nimport bella_vista.app\nbella_vista.app.server\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )

    assert "agents.app.serving.worker" in loaded
    calls = tuple(f"{name}." for name in (*OURS, *LIBRARIES))
    assert [name for name in loaded if f"{name}.".startswith(calls)] == []


def test_a_process_that_is_readied_imports_nothing_that_was_not_there_before() -> None:
    late, threads = told_by(
        "import json, sys, threading\nfrom importlib import import_module\nfrom unittest.mock import Mock\n"
        "from bella_vista import app\n"
        "for name in app.server._preload_modules: import_module(name)\n"
        "before, threads = set(sys.modules), threading.active_count()\n"
        "app.server.setup_fnc(Mock(userdata={}))\n"
        "print(json.dumps([sorted(set(sys.modules) - before), threads]))"
    )

    assert [name for name in late if not name.startswith("encodings.")] == []
    assert threads == 1


def test_a_conversation_in_a_terminal_does_without_the_rpc() -> None:
    loaded = told_by("import json, sys, agents.app.console\nprint(json.dumps(sorted(sys.modules)))")

    assert [name for name in loaded if name.partition(".")[0] == "rpc"] == []


def test_importing_the_server_leaves_the_garbage_collector_alone() -> None:
    collecting, frozen = told_by(
        "import gc, json, bella_vista.app\nbella_vista.app.server\nprint(json.dumps([gc.isenabled(), gc.get_freeze_count()]))"
    )

    assert collecting
    assert frozen == 0
