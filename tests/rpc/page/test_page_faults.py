"""An application's exception: the caller gets a true sentence, the log names the method and the place."""

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from rpc.page import ObjectType, PageSpec
from tests.rpc.page.workshop import DRIVER_1, MECHANIC, SPEC, Context, Repair, Workshop, view

SECRET = "sk-canary-12345"


class _Strict(BaseModel):
    number: int


def bug() -> object:
    """Raise an exception with a secret in its text."""
    raise KeyError(SECRET)


def invalid() -> object:
    """Raise a validation error with a secret in its text."""
    return _Strict.model_validate({"number": SECRET})


EITHER = pytest.mark.parametrize(
    ("error", "kind"), [(bug, "KeyError"), (invalid, "ValidationError of _Strict")]
)
INTERNAL = {
    "code": 5000,
    "type": "internal",
    "reason": "internal",
    "facts": {},
    "detail": "Something went wrong inside, and the same request would most likely fail again: do not repeat it. Look at the present state, which says whether it was done.",
    "retryable": False,
}


def told(log: pytest.LogCaptureFixture) -> str:
    """Return the only error in the log; no record holds the secret."""
    assert SECRET not in "".join(str(vars(one)) for one in log.records)
    (line,) = [one.getMessage() for one in log.records if one.levelno == logging.ERROR]
    return line


@EITHER
async def test_a_bug_in_a_method_is_named(
    error: Callable[[], object], kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    page = Workshop()
    page.shared.context.trouble["method"] = error

    assert await page.refused("get_hours", who=MECHANIC) == {**INTERNAL, "version": 0}

    line = told(caplog)
    assert line.startswith(f"get_hours: method failed: {kind}")
    assert "test_page_faults.py:" in line
    assert line.endswith(f"in {error.__name__}")
    page.shared.context.trouble.clear()
    assert await page.call("get_hours", who=MECHANIC) == {"hours": 0}


@EITHER
@pytest.mark.parametrize("place", ["command", "resolve"])
async def test_a_bug_in_a_command_is_named(
    place: str, error: Callable[[], object], kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    page = Workshop()
    page.shared.context.trouble[place] = error
    command = {"op": "add_job", "work": "oil"}

    assert await page.refused("repair.apply", {"command": command}) == {**INTERNAL, "version": 0}

    line = told(caplog)
    assert line.startswith(f"repair.apply: method failed: {kind}")
    assert "test_page_faults.py:" in line
    page.shared.context.trouble.clear()
    assert (await page.call("repair.apply", {"command": command}))["version"] == 1


@EITHER
async def test_a_bug_in_a_command_of_an_object_comes_in_the_envelope(
    error: Callable[[], object], kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    page = Workshop()
    page.shared.context.trouble["command"] = error

    answer = await page.state("create", "job", data={"work": "oil"})

    assert answer["error"] == {**INTERNAL, "version": 0}
    line = told(caplog)
    assert line.startswith(f"agent.state failed: {kind}")
    assert "test_page_faults.py:" in line


async def test_a_state_that_does_not_fit_its_model_is_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    page = Workshop()

    refused = await page.refused(
        "repair.apply", {"command": {"op": "add_job", "work": "oil", "hours": 41}}
    )

    assert refused == {**INTERNAL, "version": 0}
    line = told(caplog)
    assert line.startswith("repair.apply: method failed: ValidationError of Job at ")
    assert "workshop.py:" in line
    assert line.endswith("in apply")


@pytest.mark.parametrize("who", ["all", "find", "created"])
async def test_a_bug_in_the_objects_comes_in_the_envelope(
    who: str, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> Any:
        bug()

    changes: dict[str, Any] = {who: broken}
    job: ObjectType[Repair, Context] = replace(SPEC.objects["job"], **changes)
    page = Workshop(replace(SPEC, objects={**SPEC.objects, "job": job}))

    answer = (
        await page.state("create", "job", data={"work": "oil"})
        if who == "created"
        else await page.state("read", "job", "J1")
    )

    assert answer["error"]["code"] == 5000
    assert "test_page_faults.py:" in told(caplog)


# -- the view --------------------------------------------------------------------------------------


class Fragile:
    """A view that breaks at some versions."""

    def __init__(self, *versions: int) -> None:
        self.versions = {*versions}

    def view(self, state: Repair, version: int, agent: str) -> Any:
        """Render a repair, or fail."""
        if version in self.versions:
            bug()
        return view(state, version, agent)

    def spec(self) -> PageSpec[Repair, Context]:
        """Return the page with this view."""
        return replace(SPEC, view=self.view)


async def test_a_view_that_fails_from_the_start_leaves_the_call_alive(
    caplog: pytest.LogCaptureFixture,
) -> None:
    fragile = Fragile(0)
    page = Workshop(fragile.spec())
    assert told(caplog).startswith("rendering the view failed: KeyError at ")

    assert (await page.call("hello"))["version"] == 0
    assert await page.call("say", {"text": "hello"}) == {"turn": 1}
    for method in ("get_repair_state", "repair.subscribe"):
        caplog.clear()
        assert await page.refused(method) == {**INTERNAL, "version": 0}
        line = told(caplog)
        assert line.startswith(f"{method}: method failed: KeyError at ")
        assert "test_page_faults.py:" in line
    fragile.versions.clear()
    assert (await page.call("get_repair_state"))["version"] == 0


async def test_a_view_that_fails_once_is_never_an_old_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    fragile = Fragile(1)
    page = Workshop(fragile.spec())
    added = {"command": {"op": "add_job", "work": "oil"}, "key": "k"}

    with pytest.raises(Exception, match="5000"):
        await page.call("repair.apply", added)

    assert page.shared.version == 1  # it was done: a repeat does nothing
    assert (await page.refused("get_repair_state"))["code"] == 5000
    assert (await page.refused("get_repair_state", {"since": 0}))["code"] == 5000
    assert SECRET not in "".join(str(vars(one)) for one in caplog.records)
    fragile.versions.clear()
    again = await page.call("repair.apply", added)
    assert (again["version"], [job["work"] for job in again["repair"]["jobs"]]) == (1, ["oil"])
    assert await page.call("get_repair_state") == again


async def test_after_a_view_that_failed_the_next_change_is_shown() -> None:
    page = Workshop(Fragile(1).spec())
    with pytest.raises(Exception, match="5000"):
        await page.apply("add_job", work="oil")

    await page.apply("add_job", work="tyres", who=DRIVER_1)

    assert [job["work"] for job in (await page.call("get_repair_state"))["repair"]["jobs"]] == [
        "oil",
        "tyres",
    ]
