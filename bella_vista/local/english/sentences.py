"""Sentences of the local model in English, read from ``state/language/en/sentences.txt``."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from bella_vista.local.english.talking import blocks, phrases_of, words_of
from bella_vista.local.understanding.meaning import Question
from state.menu.families import families_in_general, families_of
from state.menu.words import stems

_FACT = re.compile(r"\{(\w+)(?::(\w+))?\}")
_MOST, _MOST_WORDS = 6, 16
"""How many things, and of how many words, are named in one breath."""
_NUMBERS = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)


def say(name: str, /, **facts: object) -> str:
    """Say the first sentence of a block whose facts are all known; nothing when there is none.

    >>> say("sold_out", name="Tartufo", near=[]), say("sold_out", name="Tartufo", near=["Ortolana"])[-32:]
    ('I am sorry, we are out of Tartufo today.', 'Would you like Ortolana instead?')
    """
    for line in blocks("sentences")[name]:
        if all(facts.get(fact) or facts.get(fact) == 0 for fact, _ in _FACT.findall(line)):
            text = _FACT.sub(lambda found: _shown(facts[found[1]], found[2]), line)
            text = _agreeing(text, str(facts.get("name") or ""))
            return text[:1].upper() + text[1:] if line[-1] in ".?!" else text
    return ""


def _agreeing(text: str, name: str) -> str:
    """Put the verb after the name of several things into the plural: "The Fries come with"."""
    if not name.endswith("s") or name.endswith(("ss", "us", "is")):
        return text
    verbs = {"is": "are", "comes": "come", "has": "have", "needs": "need"}
    forms = rf"(?<={re.escape(name)} )(?:{'|'.join(verbs)})\b"
    return re.sub(forms, lambda found: verbs[found[0]], text)


def _shown(value: Any, how: str | None) -> str:
    match how:
        case "and" | "or":
            return listed([str(one) for one in value], how)
        case "some":
            return some([str(one) for one in value])
        case "any":
            return some([str(one) for one in value], "or")
    return str(value)


def refused(code: str, facts: Mapping[str, Any]) -> str:
    """Say why something was not done, or what has to be asked, in the sentence that fits it best."""
    told = (f"{code} {facts.get(fact)}" for fact in ("why", "field", "what", "group"))
    name = next((one for one in told if one in blocks("sentences")), code)
    if name not in blocks("sentences"):
        name = "unclear"
    return say(name, **{"words": "that", **facts})


def ask(question: Question) -> str:
    """Put a question to the guest in one or two sentences.

    >>> ask(Question("choice_missing", {"name": "Latte", "group": "size", "possible": ["small", "large"]}))
    'Which size would you like for the Latte: small or large?'
    >>> ask(Question("not_on_menu", {"words": "nuts", "near": []}))
    'I found no nuts there that could be left off. Would you like something else instead?'
    """
    said = statement_of(question)
    if said.endswith("?"):
        return said
    return f"{said} {say('instead denied' if _is_denied(question) else 'instead')}"


def _is_denied(question: Question) -> bool:
    """Whether something is to be left off that is not there; food in general is only ever left off."""
    words = stems(str(question.facts.get("words")))
    return question.code == "not_on_menu" and (
        bool(question.facts.get("denied")) or bool(families_in_general(words))
    )


def statement_of(question: Question) -> str:
    """Say what a question is about: the question itself, or what was not done, without a question."""
    facts, code = dict(question.facts), question.code
    match code:
        case "choice_missing":
            facts["group"] = group = facts.get("group") or "one"
            if group == "parts" and facts.get("count", 1) != 1:
                facts["group"] = "several"
            elif group in words_of("no nouns") or group in question.possible:
                facts["group"] = "plain"
        case "choice_not_possible":
            most = facts.get("most")
            facts["why"] = "one" if most == 1 else "most" if isinstance(most, int) else None
            if facts.get("listed"):  # "carbonara without egg"
                facts["why"], facts["listed"] = "denied", called(facts["listed"])
            if facts.get("words") in ("half", "a"):  # "half a lasagna"
                facts["why"] = "half"
        case "not_on_menu":
            facts["listed"] = called(facts.get("listed") or ()) or None
            facts["why"] = "denied" if _is_denied(question) else None
        case "not_found":
            facts["why"] = "combo" if facts.get("combo") else None
        case "over_limit" | "not_possible":
            facts["why"] = "asked"
        case "coupon_not_valid":
            facts["why"] = None
        case "either":
            facts["first"], facts["second"] = question.possible
        case "missing":
            code = f"needs {facts.get('needs')}"
        case "unclear":
            facts["words"] = f'"{facts.get("words") or "that"}"'
    return refused(code, facts)


def listed(words: Sequence[str], join: str = "and") -> str:
    """Say several things in a row.

    >>> listed(["ham", "olives", "basil"]), listed(["ham", "olives"], "or"), listed([])
    ('ham, olives and basil', 'ham or olives', '')
    """
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {join} {words[-1]}"


def some(names: Sequence[str], join: str = "and") -> str:
    """Say as many of several things as a guest can remember.

    >>> some(list("abcdefgh")), some(["rare", "medium"], "or"), some(list("abcdefgh"), "or")
    ('a, b, c, d, e, f and two more', 'rare or medium', 'a, b, c, d, e, f or another one')
    """
    words, kept = 0, 0
    for name in names:
        words += len(name.split())
        if kept and (words > _MOST_WORDS or kept == _MOST):
            break
        kept += 1
    left = len(names) - kept
    if left < 2 and kept <= _MOST:
        return listed(names, join)
    return listed([*names[:kept], "another one" if join == "or" else f"{number(left)} more"], join)


def allergy_words(allergies: Sequence[str]) -> list[str]:
    """Say what a guest has: an illness by its name, and foods as an allergy to them.

    >>> allergy_words(["celiac", "tree nuts", "fish"])
    ['celiac disease', 'an allergy to tree nuts and fish']
    """
    foods = [one for one in allergies if one not in _illnesses()]
    ill = (_illnesses()[one] for one in allergies if one in _illnesses())
    return [*dict.fromkeys(ill), *filter(None, [say("allergy to", foods=foods)])]


def foods_of(allergies: Sequence[str]) -> list[str]:
    """Return what a guest must not eat: "gluten" for celiac disease.

    >>> foods_of(["celiac", "tree nuts"])
    ['gluten', 'tree nuts']
    """
    foods = (families_of(one) if one in _illnesses() else (one,) for one in allergies)
    return [*dict.fromkeys(food for of_one in foods for food in of_one)]


def called(families: Sequence[str]) -> list[str]:
    """Call families of allergens as menus do, where several have one word.

    >>> called(["milk", "peanuts", "tree nuts"]), called(["tree nuts"])
    (['milk', 'nuts'], ['tree nuts'])
    """
    word, _, several = blocks("sentences")["called together"][0].partition(": ")
    both = {*several.split(", ")}
    return (
        [*(one for one in families if one not in both), word]
        if both <= {*families}
        else [*families]
    )


@cache
def _illnesses() -> Mapping[str, str]:
    return dict(line.split(": ") for line in blocks("sentences")["illnesses"])


def number(count: int) -> str:
    """Say a number as a waiter writes it.

    >>> number(2), number(20)
    ('two', '20')
    """
    return _NUMBERS[count] if 0 <= count < len(_NUMBERS) else str(count)


def counted(count: int, name: str, size: str | None = None) -> str:
    """Say so many of a dish as a waiter does.

    >>> counted(2, "Margherita", "large"), counted(1, "Espresso"), counted(3, "Cola", "can")
    ('two large Margheritas', 'an Espresso', 'three cans of Cola')
    >>> counted(2, "French fries", "small"), counted(1, "Garlic knots"), counted(2, "Gnocchi al pesto")
    ('two orders of small French fries', 'Garlic knots', 'two Gnocchi al pesto')
    >>> counted(2, "Taco de carnitas"), counted(1, "Baklava", "five pieces")
    ('two Tacos de carnitas', 'a Baklava (five pieces)')
    """
    before, after = "", ""
    if size in words_of("vessels"):
        name = f"{size} of {name}"
    elif size and (size[0].isdigit() or {*size.split()} & {*_NUMBERS} or size.endswith("s")):
        after = f" ({size})"
    elif size:
        before = f"{size} "
    if _is_several(name):
        return (
            f"{before}{name}{after}"
            if count == 1
            else f"{number(count)} orders of {before}{name}{after}"
        )
    if count == 1:
        said = f"{before}{name}{after}"
        vowel = said[0].casefold() in "aeiou8" or said.split()[0] in ("11", "18")
        return f"{'an' if vowel else 'a'} {said}"
    return f"{number(count)} {before}{_several(name)}{after}"


def _is_several(name: str) -> bool:
    """Whether a name says several by itself, or names a dish that is no single thing."""
    head = _head(name)[-1].casefold()
    if head in words_of("no plural"):
        return False
    return " and " in name or (head.endswith("s") and not head.endswith(("ss", "us", "is")))


def _head(name: str) -> list[str]:
    """Return the words of a name up to what it is: "Jar" of "Jar of sauce"."""
    words = name.split()
    ends = (
        at for at, word in enumerate(words) if at and word.casefold() in words_of("after a dish")
    )
    return words[: next(ends, len(words))]


def _several(name: str) -> str:
    head = _head(name)
    if not name.isascii() or any(word.casefold() in words_of("no plural") for word in head):
        return name
    last = head[-1]
    if last.endswith(("s", "x", "z", "ch", "sh")):
        last = f"{last}es"
    elif last.endswith("y") and last[-2:-1] not in ("a", "e", "o"):
        last = f"{last[:-1]}ies"
    elif last[-1].isalpha():
        last = f"{last}s"
    return " ".join((*head[:-1], last, *name.split()[len(head) :]))


def line_words(line: Mapping[str, Any]) -> str:
    """Say one line of the order as it is shown.

    >>> line_words({"name": "Pizza", "modifications": ["half ham", "half and half"]})
    'a Pizza with ham on one half and half and half'
    >>> line_words({"name": "Poke", "modifications": ["half rice half greens"]})
    'a Poke with half rice half greens'
    >>> line_words({"name": "Latte", "modifications": ["half caf"]})
    'a Latte with half caf'
    >>> line_words({"name": "Bucket", "parts": ["Thigh", "Thigh", "Wing (hot)", "Wing (hot)", "Cola"]})
    'a Bucket with two Thighs, two Wings (hot) and Cola'
    """
    words = [str(one) for one in line.get("modifications") or ()]
    without = [one.removeprefix("no ") for one in words if one.startswith("no ")]
    ways = [one for one in words if one in phrases_of("before a dish")]
    details = [_placed(one) for one in words if not one.startswith("no ") and one not in ways]
    parts = Counter(_part(one) for one in line.get("parts") or ())
    details += [_several_parts(count, part) for part, count in parts.items()]
    if line.get("note"):
        details.append(say("note", note=line["note"]))
    return joined(
        counted(
            int(line.get("quantity") or 1), " ".join((*ways, str(line["name"]))), line.get("size")
        ),
        f"with {listed(details)}" if details else "",
        f"without {listed(without, 'or')}" if without else "",
    )


def _placed(words: str) -> str:
    """Say where a choice goes: "half ham" is ham on one half."""
    for half, where in blocks_of_halves():
        what = words.removeprefix(half)
        is_amount = what.partition(" ")[0] in words_of("amounts by halves", "sentences")
        both = f" {half}" in f" {what} "  # "half and half", "half rice half greens"
        if words.startswith(half) and not is_amount and not both:
            return f"{what} {where}"
    return words


def blocks_of_halves() -> Iterable[tuple[str, str]]:
    """Return how a half is written on an order, and how it is said."""
    for line in blocks("sentences")["halves"]:
        written, _, said = line.partition(": ")
        yield f"{written} ", said


def _several_parts(count: int, part: str) -> str:
    name, bracket, changes = part.partition(" (")
    return part if count == 1 else f"{counted(count, name)}{bracket}{changes}"


def _part(part: str | Mapping[str, Any]) -> str:
    if isinstance(part, str):
        return part
    named = " ".join(one for one in (part.get("size"), part.get("name")) if one)
    words = part.get("modifications") or ()
    return f"{named} ({', '.join(words)})" if words else named


def joined(*sentences: str) -> str:
    """Put sentences after one another, leaving empty ones out, none twice."""
    return " ".join(dict.fromkeys(sentence.strip() for sentence in sentences if sentence.strip()))
