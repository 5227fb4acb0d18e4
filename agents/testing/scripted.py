"""A language model that plays a script."""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from livekit.agents import DEFAULT_API_CONNECT_OPTIONS, APIConnectOptions
from livekit.agents.llm import (
    LLM,
    ChatChunk,
    ChatContext,
    ChoiceDelta,
    CompletionUsage,
    FunctionToolCall,
    LLMStream,
    Tool,
)


class ScriptError(AssertionError):
    """The script has a step too few or too many for the conversation."""


class ModelError(Exception):
    """Raised by a scripted model where its script says ``error``."""


@dataclass(frozen=True)
class Step:
    """One reply of the model.

    Args:
        say: The words it says first; nothing when ``None``.
        calls: The tools it calls then, each as name and arguments.
        delay: How long it waits, in seconds of the event loop's clock.
        until: The event it waits for before it answers.
        error: The message it fails with, after what it said and before any call.
        cut: Whether the arguments of its last call are truncated.
        cost: The token usage it reports: prompt, completion, and the cached part of the prompt.
            Like the local model, it reports nothing when ``None``.
    """

    say: str | None = None
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    delay: float = 0.0
    until: asyncio.Event | None = None
    error: str | None = None
    cut: bool = False
    cost: tuple[int, int, int] | None = None


def says(text: str, **how: Any) -> Step:
    """A reply in words. Takes ``delay``, ``until``, ``error``, ``cut``, ``cost`` as ``Step`` does.

    >>> says("Good evening!").say
    'Good evening!'
    """
    return Step(say=text, **how)


def calls(*made: str | tuple[str, Mapping[str, Any]], say: str | None = None, **how: Any) -> Step:
    """A reply that calls tools: names, or names with arguments.

    >>> calls(("add", {"by": 2}), "transfer_to_counter").calls
    (('add', {'by': 2}), ('transfer_to_counter', {}))
    """
    return Step(
        say=say, calls=tuple((one, {}) if isinstance(one, str) else one for one in made), **how
    )


@dataclass(frozen=True)
class Request:
    """One request an agent made to the model.

    Args:
        texts: Role and text of each message, in order; tool traffic as ``call`` and ``output``.
        tools: The names of the tools it was offered.
        settings: The agent's ``model_settings``.
    """

    texts: tuple[tuple[str, str], ...]
    tools: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def characters(self) -> int:
        """The total length of the messages."""
        return sum(len(text) for _, text in self.texts)


class PlayedLLM(LLM[Any], ABC):
    """A model whose replies are steps that its own code chooses."""

    @abstractmethod
    def step(
        self, chat_ctx: ChatContext, offered: Sequence[str], settings: Mapping[str, Any]
    ) -> tuple[str, Step]:
        """Return the next reply and its id; the id of its call number n is ``<id>_<n>``.

        Args:
            chat_ctx: The chat context of the request.
            offered: The names of the tools it may call.
            settings: The agent's ``model_settings``.
        """

    @property
    def provider(self) -> str:
        """Its provider, for logs and metrics."""
        return "testing"

    def chat(
        self,
        *,
        chat_ctx: ChatContext,
        tools: list[Tool] | None = None,
        conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS,
        **others: Any,
    ) -> LLMStream:
        """Answer with the next step; arguments as ``LLM.chat``."""
        settings = others.get("extra_kwargs") or {}
        name, step = self.step(chat_ctx, [tool.id for tool in tools or ()], settings)
        return _PlayedStream(step, name, self, chat_ctx, tools or [], conn_options)


class ScriptedLLM(PlayedLLM):
    """Plays its steps in order, one for each request.

    A request after the last step fails, and so does ``finished()`` while steps are left.
    """

    def __init__(self, script: Iterable[Step]) -> None:
        super().__init__()
        self.script = tuple(script)
        self.requests: list[Request] = []
        """The requests so far, in order."""
        self._overrun: list[Request] = []

    @property
    def model(self) -> str:
        """Its name, for logs and metrics."""
        return "scripted"

    def step(
        self, chat_ctx: ChatContext, offered: Sequence[str], settings: Mapping[str, Any]
    ) -> tuple[str, Step]:
        """Return the next step of the script."""
        request = Request(tuple(_texts(chat_ctx)), tuple(offered), settings)
        number = len(self.requests)
        self.requests.append(request)
        if number < len(self.script):
            return f"call_{number}", self.script[number]
        self._overrun.append(request)
        return f"call_{number}", Step(error="the script has no more steps")

    def what_happened(self) -> str:
        """Return the last text that each request was shown, one a line."""
        lines = []
        for number, request in enumerate(self.requests, 1):
            role, text = request.texts[-1] if request.texts else ("no message", "")
            lines.append(f"request {number} ended with {role}: {text}")
        lines.append(f"{len(self.requests)} of {len(self.script)} steps were played")
        return "\n".join(lines)

    def finished(self) -> None:
        """Check that every step was played and no request came after the last.

        Raises:
            ScriptError: Steps were left, or requests exceeded them.
        """
        if self._overrun:
            raise ScriptError(
                f"the model was asked {len(self.requests)} times, the steps of the script are"
                f" {len(self.script)}; the first request too many ends with"
                f" {self._overrun[0].texts[-1:]}{self._dropped()}"
            )
        left = self.script[len(self.requests) :]
        if left:
            which = f"the last {len(left)} steps were" if len(left) > 1 else "the last step was"
            raise ScriptError(f"{which} never played: {left}{self._dropped()}")

    def _dropped(self) -> str:
        """Name the calls that had no effect, as their tools were not offered."""
        dropped = [
            f"{name} (step {number})"
            for number, (step, request) in enumerate(
                zip(self.script, self.requests, strict=False), 1
            )
            for name, _ in step.calls
            if name not in request.tools
        ]
        return f"; not offered, so without effect: {', '.join(dropped)}" if dropped else ""


class _PlayedStream(LLMStream):
    def __init__(
        self,
        step: Step,
        name: str,
        llm: PlayedLLM,
        chat_ctx: ChatContext,
        tools: list[Tool],
        conn_options: APIConnectOptions,
    ) -> None:
        super().__init__(llm, chat_ctx=chat_ctx, tools=tools, conn_options=conn_options)
        self._step = step
        self._name = name

    async def _run(self) -> None:
        step = self._step
        if step.until is not None:
            await step.until.wait()
        if step.delay:
            await asyncio.sleep(step.delay)
        if step.say is not None:
            self._send(ChoiceDelta(role="assistant", content=step.say))
        if step.error is not None:
            raise ModelError(step.error)
        if step.calls:
            self._send(
                ChoiceDelta(
                    role="assistant",
                    tool_calls=[
                        FunctionToolCall(
                            name=name,
                            arguments=self._arguments(arguments, last=place == len(step.calls) - 1),
                            call_id=f"{self._name}_{place}",
                        )
                        for place, (name, arguments) in enumerate(step.calls)
                    ],
                )
            )
        if step.cost is not None:
            prompt, completion, cached = step.cost
            usage = CompletionUsage(
                prompt_tokens=prompt,
                completion_tokens=completion,
                prompt_cached_tokens=cached,
                total_tokens=prompt + completion,
            )
            self._event_ch.send_nowait(ChatChunk(id=self._name, usage=usage))

    def _arguments(self, arguments: Mapping[str, Any], *, last: bool) -> str:
        text = json.dumps(arguments)
        return text[: max(1, len(text) * 2 // 3)] if self._step.cut and last else text

    def _send(self, delta: ChoiceDelta) -> None:
        self._event_ch.send_nowait(ChatChunk(id=self._name, delta=delta))


def _texts(chat_ctx: ChatContext) -> Iterable[tuple[str, str]]:
    for item in chat_ctx.items:
        if item.type == "message":
            yield item.role, item.text_content or ""
        elif item.type == "function_call":
            yield "call", f"{item.name} {item.arguments}"
        elif item.type == "function_call_output":
            yield "output", item.output
