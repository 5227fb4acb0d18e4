"""The answers of the stand-ins: replies of the model, words that are heard, sound that is spoken."""

import json
from collections.abc import Mapping
from typing import Any, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

Provider = Literal["openai", "deepgram", "cartesia"]


class ScenarioError(ValueError):
    """A scenario file is faulty; the message lists every fault, one a line."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ToolCall(_Part):
    """A tool call of a reply."""

    name: str
    arguments: Mapping[str, Any] = {}


class Usage(_Part):
    """The tokens that a reply reports.

    Args:
        prompt: Tokens of the prompt, cached ones included.
        completion: Tokens of the reply.
        cached: Cached tokens of the prompt.
    """

    prompt: int = 900
    completion: int = 20
    cached: int = 800


class Answer(_Part):
    """How one request to the language model is answered.

    Args:
        say: Words, streamed word by word.
        calls: Tool calls, their arguments streamed in pieces.
        whole_calls: How many of them arrive whole if the reply does not.
        finish: The finish reason; the usual one without it, none if empty.
        usage: The tokens it reports, if any.
        status: Anything but 200 is answered with ``body`` alone.
        headers: Sent with the status.
        body: Sent as it stands instead of a stream.
        kind: The body's media type.
        delay_s: The time until the first byte, in seconds.
        stalls: It falls silent before this part.
        pings: Comments keep the connection alive while it is silent.
        breaks: How it ends too early: ``hard`` cuts the connection, ``soft`` ends the body as if it
            were complete, ``error`` sends an error, ``nonsense`` sends half a message.
    """

    say: str | None = None
    calls: tuple[ToolCall, ...] = ()
    whole_calls: int = 0
    finish: str | None = None
    usage: Usage | None = Usage()
    status: int = 200
    headers: Mapping[str, str] = {}
    body: str | None = None
    kind: str = "application/json"
    delay_s: float = 0.0
    stalls: Literal["headers", "words", "end"] | None = None
    pings: bool = False
    breaks: Literal["hard", "soft", "error", "nonsense"] | None = None

    @property
    def whole(self) -> bool:
        """Whether the reply arrives to its end."""
        return self.breaks is None and self.stalls != "end"


class Utterance(_Part):
    """The transcripts of one stretch of sound. A text alone is its final transcript.

    Args:
        text: The final words; empty for a final without words.
        interim: Interim words, in their order. A later one may take back what an earlier one held.
        delay_s: The time until the final words, in seconds.
        finals: How often the final is sent; 0 if it never is.
        closes: Instead of the final the connection is closed with this code.
    """

    text: str
    interim: tuple[str, ...] = ()
    delay_s: float = 0.0
    finals: int = Field(default=1, ge=0)
    closes: int | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, given: object) -> object:
        return {"text": given} if isinstance(given, str) else given


class Speech(_Part):
    """How text-to-speech speaks one text.

    Args:
        delay_s: The time until the first sound, in seconds.
        seconds: The length of the sound; by the length of the text without it.
        ends: ``done`` as it should; ``nothing`` more comes; an ``error`` is sent; the connection is
            ``closed``.
        code: The code the connection is closed with.
        rate: The sample rate the sound really has, in hertz; the one that was asked for without it.
        silent: The sound is silence.
        stray: A piece of another context is sent first.
    """

    delay_s: float = 0.0
    seconds: float | None = None
    ends: Literal["done", "nothing", "error", "closed"] = "done"
    code: int = 1011
    rate: int | None = None
    silent: bool = False
    stray: bool = False


class Scenario(_Part):
    """A conversation of the providers.

    Args:
        replies: How requests to the language model are answered, in their order. A request beyond
            them is refused.
        hears: The utterances that are heard, one for each stretch of sound.
        speaks: How texts are spoken, in their order; plainly after the last.
    """

    replies: tuple[Answer, ...] = ()
    hears: tuple[Utterance, ...] = ()
    speaks: tuple[Speech, ...] = ()

    @classmethod
    def read(cls, text: str) -> Self:
        """Read a scenario from YAML.

        Raises:
            ScenarioError: The text is no scenario; lists every fault.

        >>> Scenario.read("hears: [two nights, {text: yes please, finals: 2}]").hears[1].finals
        2
        >>> Scenario.read("replies: [{sya: hello}]")
        Traceback (most recent call last):
        agents.testing.providers.script.ScenarioError: replies.0.sya: unknown key
        """
        try:
            data = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise ScenarioError(f"not YAML: {error}") from None
        try:
            return cls.model_validate(data if data is not None else {})
        except ValidationError as error:
            raise ScenarioError("\n".join(map(_fault, error.errors()))) from None


def _fault(error: Any) -> str:
    where = ".".join(map(str, error["loc"])) or "the file"
    unknown = error["type"] == "extra_forbidden"
    return f"{where}: {'unknown key' if unknown else error['msg'].lower()}"


def says(text: str, **how: Any) -> Answer:
    """Return an answer in words; ``how`` are other fields of an `Answer`."""
    return Answer(say=text, **how)


def calls(*made: str | tuple[str, Mapping[str, Any]], say: str | None = None, **how: Any) -> Answer:
    """Return an answer that calls tools, each a name or a name with arguments."""
    pairs = ((one, {}) if isinstance(one, str) else one for one in made)
    named = tuple(ToolCall(name=name, arguments=arguments) for name, arguments in pairs)
    return Answer(say=say, calls=named, **how)


def refuses(status: int, message: str = "No.", code: str | None = None, **how: Any) -> Answer:
    """Return a refusal as OpenAI sends it."""
    return Answer(
        status=status, body=json.dumps({"error": {"message": message, "code": code}}), **how
    )
