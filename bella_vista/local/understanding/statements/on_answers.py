"""Reads what a guest wants only if a question has the answer that they hope for: "if it does, leave them out"."""

from dataclasses import dataclass, replace

from bella_vista.local.english.talking import pattern, words_of
from bella_vista.local.understanding.meaning import Asked
from bella_vista.local.understanding.menu.kitchen import Kitchen
from bella_vista.local.understanding.menu.names import Names
from bella_vista.local.understanding.words.tokens import Words
from state.menu.families import is_allergen
from state.menu.words import stem, stems

CONDITIONS = frozenset({"contents", "allergens", "diets", "price", "menu"})
"""Questions whose answer may decide what is ordered."""


@dataclass(frozen=True)
class Condition:
    """Whether the menu says (``met``) that the answer is as it has to be, of a ``dish`` and what is ``about`` it.

    What the dish holds and the guest does not want is not offered (``offers``); ``change`` is how they want it.
    """

    met: bool | None = None
    dish: str = ""
    about: str = ""
    offers: bool = True
    change: str = ""


class OnAnswers:
    """Reads conditions that hang on an answer about one menu."""

    def __init__(self, names: Names, kitchen: Kitchen) -> None:
        self._names = names
        self._kitchen = kitchen

    def read(self, words: Words, asked: Asked, question: Words) -> tuple[Condition, Words] | None:
        """Return the condition of a clause behind a question, and what is wanted if it is met."""
        for answer in ("no", "yes"):
            found = words.find(pattern(f"if the answer is {answer}"))
            if found and not (found.first and any(not t.stop for t in words.tokens[found.last :])):
                wanted = (*words.tokens[: found.first], *words.tokens[found.last :])
                if asked.kind == "menu" and answer == "no":
                    return None  # "if not, the cod"
                return self._condition(asked, question, answer), Words(words.line, wanted)
        has = words.find(pattern("if it has"))
        if has is not None and not has.first and asked.subject:
            named = self._names.longest(words.tokens, has.last)
            last = has.last + (named[0] if named is not None else 1)
            about = words.part(has.last, last).said
            kind = "allergens" if is_allergen(about) else "contents"
            answer = "no" if has.match["no"] or has.match["not"] else "yes"
            asked = Asked(kind, subject=asked.subject, allergen=about)
            return self._condition(asked, Words("", ()), answer), words.part(last, len(words))
        found = words.find(pattern("if it is"))
        if found is None or found.first or asked.kind == "menu":
            return None
        told, last, known = {token.stem for token in question.tokens}, found.last, False
        while last < len(words) and not words.tokens[last].stop:
            small = words.tokens[last].word in words_of("in a condition")
            if not small and words.tokens[last].stem not in told:
                break
            known, last = known or not small, last + 1
        if known:
            answer = "no" if found.match["no"] else "yes"
            return self._condition(asked, question, answer), words.part(last, len(words))
        rest = words.part(found.last, len(words))  # "if it is any good"
        wish = rest.find(pattern("after a condition"))
        stop = next((at for at, token in enumerate(rest.tokens) if token.stop), 0)
        return Condition(), rest.part(wish.first if wish else stop, len(rest))

    def applied(self, condition: Condition, words: Words) -> tuple[Condition, Words]:
        """Put what the guest points at into words; what is left off does not hang on the answer."""
        found, about = words.find(pattern("leaves it out")), condition.about
        named = found.match["what"] if found is not None else None
        if found is not None and about and (not named or stem(named) in stems(about)):
            left = condition.met and not self._kitchen.has(condition.dish, about)
            words = words.without(found.first, found.last)
            if left:  # it cannot be had without
                return replace(condition, met=False, offers=False), words
            change = f"no {about}" if condition.met is not False else ""
            return replace(condition, met=True, change=change), words
        added = words.find(pattern("adds it")) if condition.met and about else None
        if added is not None:
            return replace(condition, change=about), words.without(added.first, added.last)
        ones = (at for at, one in enumerate(words.tokens) if one.word in words_of("it words"))
        one = next(ones, None)
        if condition.met and one is not None and self._kitchen.must_choose(condition.dish, about):
            at = words.tokens[one].end  # "I'll take one" comes with the fries that were asked about
            told = Words.read(f"{condition.dish} with {about}").tokens
            told = tuple(replace(token, start=at, end=at) for token in told)
            kept = one + (words.tokens[one].word == "one")
            words = Words(words.line, (*words.tokens[:kept], *told, *words.tokens[one + 1 :]))
        return condition, words

    def _condition(self, asked: Asked, question: Words, answer: str) -> Condition:
        inside = question.trimmed(frozenset()).whole(pattern("asked inside"))
        about = asked.allergen or (inside and (inside["what"] or inside["what2"])) or ""
        so = self._is_so(asked, about)
        if question.find(pattern("asks without")) and asked.kind in ("allergens", "contents"):
            so = None if so is None else not so
        met = None if so is None else so is (answer == "yes")
        unsaid = asked.kind == "contents" and answer == "yes"
        return Condition(met, asked.subject or "", about, met is None or unsaid)

    def _is_so(self, asked: Asked, about: str) -> bool | None:
        """Whether the menu says yes to what is asked, no, or nothing."""
        kitchen, subject = self._kitchen, asked.subject
        dish = kitchen.dish(subject)
        if asked.kind == "menu":
            return kitchen.serves(subject) if dish else not asked.words
        if asked.kind == "diets" and dish is not None and asked.diet:
            return stem(asked.diet) in map(stem, dish.diets)
        if asked.kind == "diets" and dish is not None:
            return None if words_of("without meat").isdisjoint(dish.diets) else False
        if asked.kind == "allergens" and about and kitchen.families_met(subject, about):
            return True
        if asked.kind not in ("allergens", "contents") or not about or asked.aspect:
            return None
        # What the menu names elsewhere, it would tell of this dish, too; but no allergen.
        unsaid = False if self._names.meaning(about) and asked.kind == "contents" else None
        return kitchen.comes_with(subject, about) or unsaid
