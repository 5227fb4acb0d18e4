"""A language model of a few rules: it follows what is typed as far as a file goes, without a key."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Self, TypeAlias

import yaml
from livekit.agents.llm import ChatContext, FunctionCallOutput
from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter, ValidationError, model_validator

from agents.handoff import DATA_MARK, STILL_RUNNING, Graph, parameters_of, tool_name
from agents.testing.scripted import PlayedLLM, Step
from state.documents.document import line_at, read_document
from state.documents.faults import DocumentFaults, did_you_mean
from state.shared import explained

LOST = "I follow a few rules only, and none of them fits that. Could you say it in another way?"
"""Said when no rule applies, before two of the agent's examples."""

_EXAMPLES = 2

_SIBLING_FAILED = "sibling_failed"
"""The code of a call that was refused because another one of its reply failed."""
_NUMBERS = count(1)
"""Of all models in this process: a call has an id of its own although two models play in one conversation."""

NAMELESS = "My rules are for {agents}, and my instructions name none of these agents."
"""Said when no rules belong to the agent: its instructions have to hold its name."""

_NOTE = re.compile(r"\((?P<name>\w+): (?P<text>.*)\)", re.DOTALL)
_NAMED = re.compile(r"\{(\w+)\}")
_REFUSAL = re.compile(
    r'[A-Z][^:]*\. (?P<code>[a-z_]+): (?P<message>.*?)(?: (?P<facts>\{".*\}))?', re.DOTALL
)


class RulesError(ValueError):
    """The rules are faulty; ``faults`` and the message list every fault, one a line."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


class RuleCall(BaseModel):
    """A tool call of a rule, a transfer with its arguments too.

    Texts in the arguments, in lists and objects as well, may name groups of the pattern: ``{name}``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    arguments: Mapping[str, JsonValue] = {}

    def filled(self, groups: Mapping[str, str]) -> dict[str, JsonValue]:
        """Return the arguments with the groups filled in, without texts that are empty then."""
        return _filled_object(self.arguments, groups)


class Rule(BaseModel):
    """The condition of a rule, and its calls and words.

    Args:
        pattern: A regular expression that is searched for in the user's message, in any case.
        refused: The code of a refused tool call.
        returning: Whether it is said to a user who has reconnected, instead of the opening; ``{last}`` are
            the agent's last words. A rule with none of these three is the agent's opening.
        calls: The tools it calls; it applies only while all of them are offered. An opening is
            said without its calls while they are not.
        say: The words it says, after its calls. ``{output}`` is their result; in a rule for a refusal,
            ``{message}`` and the facts' names stand for its parts.
        example: A user message to which the rule applies; two of an agent's examples are named when
            no rule applies.

    Besides groups of the pattern, texts may name the fields that the agent was handed over with. They may also
    name groups that a rule without calls has found in an earlier message to this agent.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    pattern: re.Pattern[str] | None = None
    refused: str | None = None
    returning: bool = False
    calls: tuple[RuleCall, ...] = ()
    say: str | None = None
    example: str | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if sum((self.pattern is not None, self.refused is not None, self.returning)) > 1:
            raise ValueError("a rule has only one of pattern, refused and returning")
        if self.say is None and not self.calls:
            raise ValueError("a rule says or calls something")
        if self.calls and (self.refused is not None or self.returning):
            raise ValueError("a rule with refused or returning says something and calls nothing")
        if self.pattern is None and self.say is None:
            raise ValueError("a rule without a pattern says something")
        if self.example is not None and self.groups(self.example) is None:
            raise ValueError("the pattern of a rule is found in its example")
        return self

    @property
    def names(self) -> Collection[str]:
        """The names of its pattern's groups."""
        return self.pattern.groupindex if self.pattern is not None else ()

    @property
    def named(self) -> Collection[str]:
        """The names in braces in its texts."""
        texts = [self.say or "", json.dumps([dict(call.arguments) for call in self.calls])]
        return _NAMED.findall(" ".join(texts))

    @property
    def opens(self) -> bool:
        """Whether it is the agent's opening."""
        return self.pattern is None and self.refused is None and not self.returning

    def groups(self, text: str) -> dict[str, str] | None:
        """Return the named groups found in a user message; ``None`` if the rule does not apply."""
        if self.pattern is None:
            return None
        found = re.search(self.pattern.pattern, text, re.IGNORECASE)
        return None if found is None else {k: v for k, v in found.groupdict().items() if v}


Rules: TypeAlias = Mapping[str, Sequence[Rule]]
"""The rules of each agent by its name; of those that apply, the first is taken."""


def load_rules(file: Path, graph: Graph[Any] | None = None) -> Rules:
    """Read rules from a YAML file.

    Args:
        file: The file.
        graph: The agents and handoffs that the rules are for. With it, names of agents, tools and
            arguments are checked.

    Raises:
        RulesError: The file is faulty, or names what the graph does not have.
    """
    text = file.read_text(encoding="utf-8")
    try:
        document, faults = read_document(text, file.name)  # for lines and keys given twice
    except DocumentFaults as error:
        raise RulesError(map(str, error.faults)) from None
    if faults:
        raise RulesError(map(str, faults))
    rules: dict[str, tuple[Rule, ...]] = {}
    try:
        rules = TypeAdapter(dict[str, tuple[Rule, ...]]).validate_python(yaml.safe_load(text))
        found = [] if graph is None else [*_unknown_names(rules, graph)]
    except yaml.YAMLError as error:
        raise RulesError([f"{file.name}: {error}"]) from None
    except ValidationError as error:
        found = [(one["loc"], explained(one)) for one in error.errors()]
    if found:
        raise RulesError(
            f"{file.name}:{line_at(document, place)}: {_place(place)}: {fault}"
            for place, fault in found
        )
    return rules


def _unknown_names(rules: Rules, graph: Graph[Any]) -> Iterator[tuple[tuple[int | str, ...], str]]:
    """Find the names that a graph does not have, each with its place in the rules."""
    for agent in rules:
        if agent not in graph.agents:
            yield (agent,), f"there is no such agent; the agents are {', '.join(graph.agents)}"
            continue
        prompt = graph.agents[agent].prompt
        if isinstance(prompt, str) and (named := _first_named(rules, prompt)) != agent:
            whose = f"{named} first" if named else "none of these agents"
            yield (agent,), f"the instructions of {agent} name {whose}, so its rules are not found"
        tools = {tool_name(tool): parameters_of(tool)["properties"] for tool in graph.offers(agent)}
        for handoff in graph.leaving(agent):
            taken = handoff.arguments.model_json_schema() if handoff.arguments else {}
            tools[handoff.tool_name] = taken.get("properties", {})
        known = {"output", "last"}
        for handoff in graph.handoffs:
            if handoff.target == agent and handoff.arguments:
                known |= handoff.arguments.model_fields.keys()
        known |= {name for rule in rules[agent] if not rule.calls for name in rule.names}
        for number, rule in enumerate(rules[agent]):
            here = known | {*rule.names}
            for name in rule.named if rule.refused is None else ():  # of a refusal: its facts
                if name not in here:
                    yield (
                        (agent, number),
                        f"nothing is called {{{name}}} here{did_you_mean(name, here)}",
                    )
            for place, call in enumerate(rule.calls):
                at = (agent, number, "calls", place)
                if call.name not in tools:
                    yield (*at, "name"), f"{agent} has no tool {call.name}, only {', '.join(tools)}"
                elif strange := [one for one in call.arguments if one not in tools[call.name]]:
                    has = ", ".join(sorted(tools[call.name])) or "none"
                    yield (
                        (*at, "arguments", strange[0]),
                        f"{call.name} has no argument {strange[0]}; it has {has}",
                    )
                for argument, value in call.arguments.items():
                    possible = tools[call.name].get(argument, {}).get("enum")
                    if possible and value not in possible and not _NAMED.search(str(value)):
                        values = ", ".join(map(str, possible))
                        yield (*at, "arguments", argument), f"has to be one of {values}"


def _place(steps: Iterable[int | str]) -> str:
    """Return a value's place; the first rule is number 1."""
    return " ".join(str(step + 1) if isinstance(step, int) else step for step in steps)


class RulesLLM(PlayedLLM):
    """A model for trying out an application without a provider. It understands nothing.

    It sees what any model sees, plays the rules of the agent whose name comes first in the
    instructions, and takes for each unanswered message the first rule that applies.
    """

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self._rules = rules
        self._asked: dict[str, tuple[int, Sequence[_Choice]]] = {}

    @property
    def model(self) -> str:
        """Its name, for logs and metrics."""
        return "rules"

    def step(
        self, chat_ctx: ChatContext, offered: Sequence[str], settings: Mapping[str, Any]
    ) -> tuple[str, Step]:
        """Report the results of earlier calls; then apply the rules to the other messages."""
        name = f"rules_{next(_NUMBERS)}"
        seen = _Seen(chat_ctx)
        if (rules := self._rules_of(seen.instructions)) is None:
            return name, Step(say=NAMELESS.format(agents=", ".join(self._rules)))
        last = next(reversed(seen.outputs), "").rpartition("_")[0]
        answered, asked = self._asked.get(last, (0, ()))
        said = [_told(rules, choice, seen.outputs) for choice in asked]
        said += [_refused(rules, text) for text in seen.results]
        choices: Sequence[_Choice] = ()
        if len(seen.words) > answered or not (seen.outputs or seen.results):
            words = seen.words[answered:]
            choices = _choose(name, rules, seen, words, frozenset(offered))
        calls = tuple(call for choice in choices for call in choice.calls.values())
        if calls:
            self._asked[name] = len(seen.words), choices
        else:
            said += [_format(one.rule.say or "", one.groups) for one in choices]
        text = " ".join(dict.fromkeys(filter(None, said)))
        if not text and not calls:
            text = " ".join(filter(None, (LOST, _examples(rules, seen, frozenset(offered)))))
        return name, Step(say=text or None, calls=calls)

    def _rules_of(self, instructions: str) -> Sequence[Rule] | None:
        agent = _first_named(self._rules, instructions)
        return self._rules[agent] if agent is not None else None


def _first_named(agents: Iterable[str], instructions: str) -> str | None:
    """Return the agent whose name comes first in the instructions."""
    places = {
        found.start(): agent
        for agent in agents
        if (found := re.search(_words(agent), instructions, re.IGNORECASE)) is not None
    }
    return places[min(places)] if places else None


@dataclass(frozen=True)
class _Choice:
    """A rule that applies to a message: the groups found, and its calls by their ids."""

    rule: Rule
    groups: Mapping[str, str]
    calls: Mapping[str, tuple[str, dict[str, JsonValue]]]


class _Seen:
    """The parts of a request that the rules use: instructions, unanswered messages, their results."""

    def __init__(self, chat_ctx: ChatContext) -> None:
        self.instructions = ""
        self.last_reply: str | None = None  # of this agent
        self.handed_over: Mapping[str, str] = {}
        self.words: list[str] = []
        self.earlier: list[str] = []  # answered messages
        self.results: list[str] = []  # of slow tools
        self.outputs: dict[str, FunctionCallOutput] = {}
        for item in chat_ctx.items:
            if item.type == "function_call_output":
                self.outputs[item.call_id] = item
            elif item.type == "message":
                self._message(item.role, item.text_content or "")

    def _message(self, role: str, text: str) -> None:
        if role in ("system", "developer"):
            self.instructions = self.instructions or text
        elif role == "assistant" and (note := _NOTE.fullmatch(text)) is not None:
            if note["name"] == "handed_over":
                self.handed_over = _texts(note["text"])
            elif note["text"] != STILL_RUNNING:
                self.results.append(note["text"])
        elif role == "assistant":
            self.earlier += self.words
            self.words, self.results, self.outputs, self.last_reply = [], [], {}, text
        elif not text.startswith(DATA_MARK):
            self.words.append(text)


def _choose(
    name: str,
    rules: Sequence[Rule],
    seen: _Seen,
    words: Sequence[str],
    offered: frozenset[str],
) -> Sequence[_Choice]:
    """Choose a rule for each message; an agent that has said nothing yet opens unless it can act."""
    numbers = count()
    known = {**seen.handed_over, **_remembered(rules, seen.earlier)}

    def choice(rule: Rule, groups: Mapping[str, str]) -> _Choice:
        groups = {**known, **groups}
        named = ((call.name, call.filled(groups)) for call in rule.calls if call.name in offered)
        return _Choice(rule, groups, {f"{name}_{next(numbers)}": call for call in named})

    choices: list[_Choice] = []
    for text in words:
        for rule in rules:
            groups = rule.groups(text)
            if groups is None or not offered.issuperset(call.name for call in rule.calls):
                continue
            if rule.calls or seen.last_reply is not None:
                choices.append(choice(rule, groups))
                if not rule.calls:
                    known |= groups
                break
    if not choices and not (words and seen.last_reply is not None):
        returning = [rule for rule in rules if rule.returning] if seen.last_reply else []
        for rule in (returning or [rule for rule in rules if rule.opens])[:1]:
            before, _, after = (rule.say or "").partition("{last}")  # of an earlier return
            last = (seen.last_reply or "").removeprefix(before).removesuffix(after)
            choices.append(choice(rule, {"last": last}))
    return choices


def _remembered(rules: Sequence[Rule], earlier: Iterable[str]) -> dict[str, str]:
    """Return the groups found in earlier messages by rules that have called nothing with them."""
    known: dict[str, str] = {}
    for text in earlier:
        rule, groups = _first(rules, text)
        if rule is not None and not rule.calls:
            known |= groups
    return known


def _first(rules: Sequence[Rule], text: str) -> tuple[Rule | None, Mapping[str, str]]:
    """Return the first rule whose pattern is found in a message, and the groups found."""
    for rule in rules:
        if (groups := rule.groups(text)) is not None:
            return rule, groups
    return None, {}


def _examples(rules: Sequence[Rule], seen: _Seen, offered: frozenset[str]) -> str:
    """Return a sentence with two examples, first those of rules that have not applied yet."""
    applied = [_first(rules, text)[0] for text in seen.earlier]
    possible = [
        rule
        for rule in rules
        if rule.example and offered.issuperset(call.name for call in rule.calls)
    ]
    possible.sort(key=lambda rule: rule in applied)
    named = [f'"{rule.example}"' for rule in possible[:_EXAMPLES]]
    return f"You can say, for example, {' or '.join(named)}." if named else ""


def _told(rules: Sequence[Rule], choice: _Choice, outputs: Mapping[str, FunctionCallOutput]) -> str:
    """Return the words of a choice: its own, or those for its first refusal."""
    results = [outputs[call_id] for call_id in choice.calls if call_id in outputs]
    refusal = next((one.output for one in results if one.is_error), None)
    if refusal is not None:
        return _refused(rules, refusal)
    output = " ".join(one.output for one in results)
    say = "{output}" if choice.rule.say is None else choice.rule.say
    return _format(say, {**choice.groups, "output": output})


def _refused(rules: Sequence[Rule], output: str) -> str:
    """Say a refusal by the rule for its code; any other text as it is.

    A call that was refused because of another one says nothing without a rule: the other says why.
    """
    found = _REFUSAL.fullmatch(output)
    if found is None:
        return output
    values = {**_texts(found["facts"] or "{}"), "message": found["message"]}
    say = next((rule.say for rule in rules if rule.refused == found["code"]), None)
    if say is None and found["code"] == _SIBLING_FAILED:
        return ""
    return _format(say or "{message}", values)


def _texts(data: str) -> dict[str, str]:
    """Return the values of a JSON object as they are said; empty if it is none."""
    values: dict[str, JsonValue] = {}
    with suppress(ValueError):  # braces within a message
        values = json.loads(data)
    return {name: _text(value) for name, value in values.items() if value is not None}


def _text(value: JsonValue) -> str:
    return ", ".join(map(_text, value)) if isinstance(value, list) else str(value)


def _words(agent: str) -> str:
    """Return the pattern of an agent's name in a text."""
    return rf"\b{re.escape(agent).replace('_', '[ _]')}\b"


def _filled_object(
    values: Mapping[str, JsonValue], groups: Mapping[str, str]
) -> dict[str, JsonValue]:
    filled = {name: _filled(value, groups) for name, value in values.items()}
    return {name: value for name, value in filled.items() if value != ""}


def _filled(value: JsonValue, groups: Mapping[str, str]) -> JsonValue:
    if isinstance(value, str):
        return _format(value, groups)
    if isinstance(value, dict):
        return _filled_object(value, groups)
    if isinstance(value, list):
        return [one for one in (_filled(one, groups) for one in value) if one != ""]
    return value


def _format(text: str, values: Mapping[str, str]) -> str:
    return _NAMED.sub(lambda found: values.get(found[1], ""), text)
