import asyncio
import json
import subprocess
import sys
from typing import Any

import pytest

from state.shared import SqlStore

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("clean_folder")]

OURS = ("agents.handoff", "agents.app.rooms", "agents.roster", "bella_vista.local", "rpc", "state")
SERVER = "from bella_vista.app import APP, server\n"
LIBRARIES = ("babel", "email_validator", "phonenumbers", "rapidfuzz", "sqlalchemy", "yaml")


def told_by(program: str) -> Any:
    """Run a program in a fresh process and read what it prints."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_server_is_made_without_what_only_its_calls_need() -> None:
    loaded = told_by(
        f"import json, sys\nimport livekit.agents\nbefore = set(sys.modules)\n{SERVER}"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )

    assert "agents.app.serving.worker" in loaded
    calls = tuple(f"{name}." for name in (*OURS, *LIBRARIES))
    assert [name for name in loaded if f"{name}.".startswith(calls)] == []


def test_a_process_that_is_readied_imports_nothing_that_was_not_there_before() -> None:
    late, threads = told_by(
        "import json, sys, threading\nfrom importlib import import_module\nfrom unittest.mock import Mock\n"
        f"{SERVER}"
        "for name in server._preload_modules: import_module(name)\n"
        "before, threads = set(sys.modules), threading.active_count()\n"
        "server.setup_fnc(Mock(userdata={}))\n"
        "print(json.dumps([sorted(set(sys.modules) - before), threads]))"
    )

    assert [name for name in late if not name.startswith("encodings.")] == []
    assert threads == 1


MODELS = """
import json, sys
from importlib import import_module
from unittest.mock import Mock
from livekit.agents.tokenize import _basic_hyphenator

for name in server._preload_modules:
    import_module(name)
process = Mock(userdata={})
server.setup_fnc(process)
before = set(sys.modules)

from agents.app.models.choice import language_model
from agents.app.models.speech import load_vad, speech_models

prepared = process.userdata["prepared"]
ready = [load_vad.cache_info().currsize, _basic_hyphenator._get_hyphenator.cache_info().currsize]
language_model(APP, prepared.context, prepared.settings)
speech_models(prepared.settings)
print(json.dumps([sorted(set(sys.modules) - before), ready]))
"""


def test_a_process_that_is_readied_for_speech_has_loaded_all_that_its_models_need(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("OPENAI_API_KEY", "DEEPGRAM_API_KEY", "CARTESIA_API_KEY"):
        monkeypatch.setenv(name, "a-key-of-the-tests")
    monkeypatch.setenv("BELLA_VISTA_MODEL", "openai")

    late, ready = told_by(SERVER + MODELS)

    assert [name for name in late if name.startswith(("agents.", "livekit.", "httpcore"))] == []
    assert ready == [1, 1]


CALL = """
import asyncio, json, sys
from importlib import import_module
from unittest.mock import Mock

for name in server._preload_modules:
    import_module(name)
process = Mock(userdata={})
before = set(sys.modules)
server.setup_fnc(process)

from agents.app.app import NewState
from state.shared import SharedState, SqlStore

async def call(context):
    state = APP.new(context, NewState(id="o", number="1", channel="web_text"))
    async with SqlStore("sqlite:///orders.db", owner="house", schema=1) as store:
        await store.leases.take("room", "job", seconds=60)
        await store.create("o", lambda ordinal: state.model_dump_json())
        await store.leases.assign("room", "job", state_id="o", user="ada")
    shared = SharedState(state, context)
    APP.stored.refuse_resume(state, context)
    await APP.stored.resumed(shared)
    APP.call(shared)
    APP.page()
    APP.view(state, 0, None)

asyncio.run(call(process.userdata["prepared"].context))
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def test_the_certificates_are_read_before_processes_are_forked() -> None:
    read = told_by(
        f"import json\nfrom importlib import import_module\n{SERVER}"
        "for name in server._preload_modules: import_module(name)\n"
        "from livekit.agents.utils.http_context import _create_ssl_context, _ssl_context_for\n"
        "_create_ssl_context()\n"
        "print(json.dumps(_ssl_context_for.cache_info().hits))"
    )

    assert read == 1


def test_a_call_imports_nothing_that_a_readied_process_has_not_imported() -> None:
    async def make_database() -> None:
        async with SqlStore("sqlite:///orders.db", owner="house", schema=1) as store:
            await store.try_writing()

    asyncio.run(make_database())

    late = told_by(SERVER + CALL)

    ours = tuple(f"{name}." for name in (*OURS, *LIBRARIES, "bella_vista"))
    assert [name for name in late if f"{name}.".startswith(ours)] == []


def test_a_conversation_in_a_terminal_does_without_the_rpc() -> None:
    loaded = told_by(
        "import json, sys, agents.app.console.command\nprint(json.dumps(sorted(sys.modules)))"
    )

    assert [name for name in loaded if name.partition(".")[0] == "rpc"] == []


def test_importing_the_server_leaves_the_garbage_collector_alone() -> None:
    collecting, frozen = told_by(
        f"import gc, json\n{SERVER}print(json.dumps([gc.isenabled(), gc.get_freeze_count()]))"
    )

    assert collecting
    assert frozen == 0
