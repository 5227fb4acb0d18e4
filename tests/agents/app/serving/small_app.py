"""The smallest module that a worker can run: an agent that joins its room and answers a few methods."""

import asyncio
import json
import logging
import os
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

from livekit import rtc
from livekit.agents import JobContext

from agents.app.dispatch.replacement import LostCall, replace_this_job
from agents.app.job_metadata import JobMetadata
from agents.app.serving.worker import Worker
from bella_vista.settings import Settings

CODE = "first"
"""What this module is at present, for tests that change it."""

POISON, FRAGILE, SPEAKING = "xx", "yy", "zz"
"""Locales: with one the process dies, with one the entrypoint can be made to fail, with one it never is quiet."""


async def lost() -> Sequence[LostCall]:
    listed = os.environ.get("TEST_LOST")
    return [LostCall(**place) for place in json.loads(listed)] if listed else []


async def given_up(room: str, metadata: JobMetadata) -> None:
    text = json.dumps([room, metadata.model_dump()])
    await asyncio.to_thread(Path(os.environ["TEST_GIVEN_UP"]).write_text, text)


server = Worker(
    Settings.read(), lost=lost, given_up=given_up, noun="order", application="bella_vista"
)


async def entrypoint(ctx: JobContext) -> None:
    metadata = JobMetadata.parse(ctx.job.metadata, "order")
    if metadata.locale == POISON:
        os._exit(3)
    await ctx.connect()
    began = time.monotonic()
    told = {"pid": os.getpid(), "job": ctx.job.id, "code": CODE, "metadata": metadata.model_dump()}
    failed = asyncio.Event()

    async def who(_: rtc.RpcInvocationData) -> str:
        return json.dumps(told)

    async def fail(_: rtc.RpcInvocationData) -> str:
        later(failed.set)
        return "{}"

    async def leave(_: rtc.RpcInvocationData) -> str:
        later(ctx.shutdown)
        return "{}"

    async def log(data: rtc.RpcInvocationData) -> str:
        log_in_every_way(json.loads(data.payload)["words"])
        return "{}"

    for method in (who, fail, leave, log):
        ctx.agent.register_rpc_method(method.__name__, method)
    # Without an attribute the server would tell the others of this agent up to three seconds late.
    state = "speaking" if metadata.locale == SPEAKING else "listening"
    await ctx.agent.set_attributes({"lk.agent.state": state})
    if metadata.locale == FRAGILE:
        await failed.wait()
        await replace_this_job(ctx, metadata, lived_s=time.monotonic() - began, given_up=given_up)


def later(act: Callable[[], None]) -> None:
    """Do what ends the agent when its answer is on its way."""
    asyncio.get_running_loop().call_later(0.3, act)


def log_in_every_way(words: str) -> None:
    """Log a guest's words, as a library may do."""
    library = logging.getLogger("livekit.agents")
    library.warning("failed to say: %s", words)
    library.warning(f"unknown function `{words}`", extra={"text": words})
    try:
        raise ValueError(words)
    except ValueError as error:
        library.exception("it failed", extra={"error": error})
        logging.getLogger("bella_vista.test").exception("ours failed", extra={"line": "L1"})
        asyncio.get_running_loop().create_future().set_exception(error)
    warnings.warn(words, stacklevel=1)
    thread = threading.Thread(target=_raise, args=(words,))
    thread.start()
    thread.join()
    asyncio.get_running_loop().call_soon(_raise, words)


def _raise(words: str) -> None:
    raise RuntimeError(words)


server.rtc_session(entrypoint, agent_name=Settings.read().agent_name)
