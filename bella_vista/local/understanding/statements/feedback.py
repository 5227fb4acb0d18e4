"""Takes out ratings, comments and notes."""

from decimal import Decimal, InvalidOperation

from bella_vista.local.english import numbers
from bella_vista.local.english.talking import pattern, words_of
from bella_vista.local.understanding.meaning import Draft, Question
from bella_vista.local.understanding.statements.heard import Heard, asks_before
from bella_vista.local.understanding.words.tokens import Words

_UNTIL_SUPPLIES = 30
"""How many words a request for napkins and the like may take until it names one."""


class Feedback:
    """Reads how the guest liked it; a rating is never invented."""

    def rating(self, words: Words, heard: Heard, expects: str | None) -> Words:
        """Take out a rating of one to five, with what is said beside it."""
        if pattern("orders more").match(words.said) is not None:
            return words
        if expects not in ("rating", "comment") and words.find(pattern("the rating")) is None:
            return words
        leaves = words.find(pattern("see you"))
        for found in words.find_all(pattern("stars")):
            if leaves is not None and leaves.first <= found.first < leaves.last:
                continue  # "see you in 20"
            given = found.match.groupdict()
            scaled = given["scale"] is not None
            if expects != "rating" and not scaled:
                continue
            if found.last < len(words.tokens) and words.tokens[found.last].word in words_of(
                "no stars"
            ):
                continue
            number = _decimal_of(given["number"])
            most = _decimal_of((given["most"] or "5").split()[0])
            whole = number == number.to_integral_value() and not given["half"]
            if most == 5 and whole and 1 <= number <= 5:
                heard.wish(words, "give_feedback", rating=int(number))
            else:
                facts = {"field": "rating", "why": "not_one_to_five", "words": found.match.group()}
                heard.asked(Question("not_valid", facts, Draft("give_feedback", {})))
            return self._comment_beside(words.without(found.first, found.last), heard)
        return words

    def _comment_beside(self, words: Words, heard: Heard) -> Words:
        """Keep what is said beside a rating as its comment."""
        tokens = list(words.tokens)
        while tokens and (
            tokens[0].stop
            or tokens[0].word in words_of("because")
            or tokens[0].word in ("star", "stars")
        ):
            tokens.pop(0)
        while tokens and (tokens[-1].stop or tokens[-1].word in words_of("after name")):
            tokens.pop()
        content = [token.word for token in tokens if token.word not in words_of("giving")]
        if len(content) < 2 or not heard.has("give_feedback"):
            return words.part(0, 0)
        run = Words(words.line, tuple(tokens))
        if any(
            p.fullmatch(run.said)
            for p in (pattern("thanks"), pattern("bye"), pattern("done"), pattern("no"))
        ):
            return run
        first = next(index for index, token in enumerate(words.tokens) if token is tokens[0])
        comment = words.typed(first, first + len(tokens))
        for index, (at, draft) in enumerate(heard.drafts):
            if draft.op == "give_feedback":
                heard.drafts[index] = (at, Draft(draft.op, {**draft.fields, "comment": comment}))
        return words.part(0, 0)

    def is_note(self, words: Words) -> bool:
        """Whether what is said is, from its beginning, a word to the house."""
        found = words.find(pattern("note"))
        return found is not None and found.first <= 3 and not asks_before(words, found.first)

    def note(self, words: Words, heard: Heard) -> Words:
        """Take out a word to the kitchen or to whoever brings the food."""
        doorstep = words.whole(pattern("doorstep"))
        if doorstep is not None:
            heard.wish(words, "add_note", title="At the door", content=words.typed())
            return words.part(0, 0)
        for at, token in enumerate(words.tokens):
            if at and not token.stop and token.word not in ("and", "with"):
                continue  # "one tiramisu, two spoons", "with two spoons"
            rest = words.part(at, at + _UNTIL_SUPPLIES).trimmed(words_of("around"))
            if pattern("supplies").match(rest.said) is None:
                continue
            for end in range(len(words), at, -1):
                if end < len(words) and words.tokens[end].word != "and":
                    continue
                part = words.part(at, end).trimmed(words_of("around"))
                if (supplies := part.whole(pattern("supplies"))) is not None:
                    heard.wish(words, "add_note", title="For the kitchen", content=supplies["what"])
                    return words.without(at, end)
        written = words.find(pattern("write on it"))
        if written is not None:
            content = words.typed(written.first, written.last)
            heard.wish(words, "add_note", title="For the kitchen", content=content)
            return words.without(written.first, written.last)
        found = words.find(pattern("note"))
        if found is None or not self.is_note(words):
            return words
        content = words.typed(found.last, None).strip(" .,:")
        if len(content.split()) < 2:
            # "Please note that I am allergic to nuts": the allergy has been taken out of it.
            return words.part(0, found.first) if heard.has("add_allergy") else words
        heard.wish(words, "add_note", title="For the kitchen", content=content)
        return words.part(0, found.first)


def _decimal_of(word: str) -> Decimal:
    if word in numbers.UNITS:
        return Decimal(numbers.UNITS[word])
    try:
        return Decimal(word.replace(",", "."))
    except InvalidOperation:
        return Decimal(0)
