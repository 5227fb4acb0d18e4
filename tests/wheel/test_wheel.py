"""The framework as a wheel: what is in it, and that it runs beside openai-agents in an environment of its own."""

import ast
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from email.parser import HeaderParser
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from agents.app.livekit_server import find_program
from tests.livekit import LiveKit, until
from tests.missing import missing
from tests.wheel.build import ROOT, Plan, WheelError, build

PLAN = Plan.read()
BROUGHT = {
    "python-dotenv": "pydantic-settings",
    "livekit": "livekit-agents",
    "livekit-api": "livekit-agents",
    "livekit-protocol": "livekit-agents",
    "protobuf": "livekit-agents",
    "prometheus_client": "livekit-agents",
    "sounddevice": "livekit-agents",
    "opentelemetry-exporter-otlp-proto-http": "livekit-agents",
    "pydantic_core": "pydantic",
    "httpx2": "livekit-plugins-openai",
    "openai": "livekit-plugins-openai",
    "numpy": "livekit-agents",
}
"""Distributions that are imported and that one of the wheel's own dependencies brings."""

SERVED_S = 90.0
"""How long anything in a room may take on a busy machine, in seconds."""

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]


def uv_program() -> str:
    """Find uv; without it the test is skipped, and with ``CI=true`` it fails."""
    built = ROOT / ".tools/uv/bin/uv"
    if found := str(built) if built.exists() else shutil.which("uv"):
        return found
    missing("uv is missing: make .tools/uv/bin/uv")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("dist"), tmp_path_factory.mktemp("work"))


def modules(wheel: Path) -> Iterator[tuple[str, ast.Module]]:
    with zipfile.ZipFile(wheel) as files:
        for name in files.namelist():
            if name.endswith(".py"):
                yield name, ast.parse(files.read(name))


def needed(names: Iterator[str]) -> set[str]:
    return {re.sub(r"[-_.]+", "-", Requirement(one).name).lower() for one in names}


def test_the_same_sources_give_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    again = build(tmp_path / "dist", tmp_path / "work")

    assert again.name == wheel.name
    assert again.read_bytes() == wheel.read_bytes()


def test_the_wheel_has_every_file_of_its_packages(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        found = {name for name in files.namelist() if not name.endswith("/")}
    wanted = {
        "/".join([*theirs.split("."), *path.relative_to(folder).parts])
        for ours, theirs in PLAN.packages.items()
        for folder in [ROOT.joinpath(*ours.split("."))]
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    beside = {name for name in found - wanted if ".dist-info/" not in name}

    assert wanted - found == set()
    assert beside == {f"{PLAN.package}/__init__.py", f"{PLAN.package}/py.typed"}
    assert f"{PLAN.package}/app/rooms/not_by_phone.wav" in found
    assert f"{PLAN.package}/state/sql/migrations/env.py" in found


def test_no_name_of_this_repository_is_left_in_it(wheel: Path) -> None:
    old = re.compile(rf"(?<![\w.])({'|'.join(map(re.escape, PLAN.packages))})(?!\w)")
    left: list[str] = []
    for name, module in modules(wheel):
        for node in ast.walk(module):
            if isinstance(node, ast.Import):
                left += [f"{name}: {one.name}" for one in node.names if old.match(one.name)]
            elif isinstance(node, ast.ImportFrom) and node.module in ("agents", "rpc", "state"):
                left.append(f"{name}: {node.module}")
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                left += [f"{name}: {found[0]}" for found in old.finditer(node.value)]

    assert left == []


def test_it_imports_only_its_dependencies(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        (metadata,) = (name for name in files.namelist() if name.endswith("/METADATA"))
        given = (
            HeaderParser().parsestr(files.read(metadata).decode()).get_all("Requires-Dist") or []
        )
    owners = packages_distributions()
    imported: set[str] = set()
    for _, module in modules(wheel):
        for node in ast.walk(module):
            if isinstance(node, ast.Import):
                imported |= {one.name for one in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported |= {f"{node.module}.{one.name}" for one in node.names}
    roots = {name.split(".")[0] for name in imported} - {PLAN.package} - sys.stdlib_module_names
    # The packages of LiveKit share a namespace: each plugin is a distribution of its own.
    plugins = {
        f"livekit-plugins-{name.split('.')[2]}"
        for name in imported
        if name.startswith("livekit.plugins.")
    }
    found = {owners[root][0].lower() for root in roots - {"livekit", "google"}} | plugins

    assert {BROUGHT.get(one, one) for one in found} <= needed(iter(given))
    assert {"babel", "email-validator"}.isdisjoint(needed(iter(given)))


def test_a_package_that_imports_the_restaurant_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "one.py").write_text("def late() -> None:\n    from bella_vista.app import APP\n")

    with pytest.raises(WheelError, match=r"one\.py imports bella_vista\.app"):
        PLAN.copy(source, tmp_path / "target")


def test_a_dependency_that_the_project_does_not_have_is_refused(tmp_path: Path) -> None:
    text = (
        (ROOT / "pyproject.toml")
        .read_text()
        .replace('"platformdirs",\n    "pyd', '"nothing",\n    "pyd')
    )
    (tmp_path / "pyproject.toml").write_text(text)
    assert tomllib.loads(text)["tool"]["wheel"]["dependencies"].count("nothing") == 1

    with pytest.raises(WheelError, match="no dependency of the project: nothing"):
        Plan.read(tmp_path)


class Fresh:
    """An environment with the wheel and openai-agents, and a folder of applications to run in it."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.folder = folder / "applications"
        self.environment = folder / "environment"
        self.uv("venv", "--quiet", "--python", sys.executable, str(self.environment))
        extras = f"{wheel}[{','.join(PLAN.extras)}]"
        tools = ("openai-agents", "pytest", "pytest-asyncio", "pytest-timeout")
        # The versions that are tested here, wherever openai-agents allows them.
        constraints = folder / "constraints.txt"
        constraints.write_text(
            "\n".join(
                re.findall(
                    r"^[a-z0-9][^ ]*==[^\\\n]+", (ROOT / "requirements-dev.lock").read_text(), re.M
                )
            )
        )
        self.uv(
            *("pip", "install", "--quiet", "--python", str(self.environment / "bin/python")),
            *("--constraint", str(constraints), extras, *tools),
        )
        applications = self.folder / "examples"
        applications.mkdir(parents=True)
        PLAN.copy(ROOT / "examples/clinic", applications / "clinic", beside={"examples"})
        counter = (ROOT / "tests/wheel/counter.py").read_text()
        (self.folder / "counter.py").write_text(PLAN.rewritten(counter))
        (self.folder / "pytest.ini").write_text(
            "[pytest]\naddopts = --import-mode=importlib --strict-markers -p no:cacheprovider\n"
            "markers = processes: needs a server or starts a process\n"
            "asyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n"
            "pythonpath = .\nfilterwarnings = error\ntimeout = 60\n"
            "app = examples.clinic.app:APP\n"
        )

    def uv(self, *arguments: str) -> None:
        # The project tells uv to leave openai-agents out.
        command = [uv_program(), "--no-config", *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    def run(
        self, *arguments: str, typed: str = "", **environment: str
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [self.environment / "bin/python", *arguments],
            cwd=self.folder,
            env=self.variables(environment),
            input=typed,
            capture_output=True,
            text=True,
        )

    @contextmanager
    def running(self, log: Path, *arguments: str, **environment: str) -> Iterator[None]:
        """Run a program in the background; it is killed at the end, with all it has started."""
        with log.open("w") as written:
            process = subprocess.Popen(
                [self.environment / "bin/python", *arguments],
                cwd=self.folder,
                env=self.variables(environment),
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=written,
                start_new_session=True,
            )
        try:
            yield
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def variables(self, more: Mapping[str, str]) -> dict[str, str]:
        kept = {
            name: os.environ[name]
            for name in ("CI", "HOME", "LANG", "TMPDIR")
            if name in os.environ
        }
        program = find_program()  # of the LiveKit server, which no wheel has
        path = os.pathsep.join([*([str(program.parent)] if program else []), os.defpath])
        return {**kept, "PATH": path, "PYTHONPATH": str(self.folder), **more}


@pytest.fixture(scope="module")
def fresh(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Fresh:
    return Fresh(tmp_path_factory.mktemp("fresh"), wheel)


def test_both_are_imported_in_one_process(fresh: Fresh) -> None:
    done = fresh.run(
        "-c",
        "import pkgutil, importlib, agents, typed_handoffs\n"
        "from importlib.metadata import packages_distributions as owners\n"
        "for one in pkgutil.walk_packages(typed_handoffs.__path__, 'typed_handoffs.'):\n"
        "    if '.migrations.' not in one.name and not one.name.endswith('__main__'):\n"
        "        importlib.import_module(one.name)\n"
        "print(agents.Runner.__module__, agents.Agent.__module__, owners()['agents'],\n"
        "    owners()['typed_handoffs'])\n",
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout == "agents.run agents.agent ['openai-agents'] ['typed-handoffs']\n"


def test_the_clinics_tests_pass_on_the_wheel(fresh: Fresh) -> None:
    done = fresh.run("-m", "pytest", "-q", "-rA", "examples/clinic")

    assert done.returncode == 0, done.stdout + done.stderr
    assert (
        "PASSED examples/clinic/tests/conversations/a-whole-visit.yaml::a-whole-visit"
        in done.stdout
    )
    skipped = "" if find_program() else r"(, \d skipped)?"
    assert re.search(rf"^\d{{2,}} passed{skipped} in ", done.stdout, re.MULTILINE), done.stdout


def test_an_application_runs_on_the_wheel_in_the_terminal(fresh: Fresh, tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/counts.db"

    talk = fresh.run(
        *("counter.py", "console", "--database", database),
        typed="Three, please\n",
    )
    kept = fresh.run("counter.py", "counts", "list", "--database", database)

    assert (talk.returncode, talk.stderr) == (0, "")
    assert "Three, noted." in talk.stdout
    assert (kept.returncode, kept.stderr) == (0, "")


def test_the_worker_of_dev_starts_by_the_wheels_own_name(fresh: Fresh) -> None:
    worker = fresh.run("-m", f"{PLAN.package}.app.serving", "counter:APP")

    assert worker.returncode == 2
    assert "LIVEKIT_URL" in worker.stderr


async def test_a_room_is_served_over_the_wheel(
    fresh: Fresh, livekit: LiveKit, room_name: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    settings = {
        **livekit.environment,
        "COUNTER_AGENT_NAME": room_name,
        "COUNTER_DATABASE": f"sqlite:///{tmp_path}/counts.db",
        "COUNTER_HEALTH_PORT": "0",
        "COUNTER_IDLE": "1",
    }
    with fresh.running(log, "counter.py", "start", **settings):
        await until(
            lambda: "worker registered" in log.read_text(), SERVED_S, f"a worker; its log is {log}"
        )
        async with livekit.joined(room_name, offers=("count_state_changed",)) as user:
            await livekit.dispatch(room_name, agent=room_name)
            hello = await user.hello(SERVED_S)
            await user.call("count.subscribe")
            assert await user.call("say", {"text": "Three, please"}) == {"turn": 1}
            await until(
                lambda: "Three, noted." in user.said, SERVED_S, f"the answer in {user.said}"
            )
            await until(lambda: user.called("count_state_changed"), SERVED_S, "the change")
            left = await user.call("get_count_state")

    assert (hello["agent"], left["count"]["count"]) == ("counter", 3)
