"""Small talk: greetings, thanks, yes and no, and the few words that end or stop everything."""

from functools import cache
from itertools import pairwise

from bella_vista.local.english import lexicon, vocabulary
from bella_vista.local.english.required_words import RequiredWords, may_match, with_digit
from bella_vista.local.english.talking import pattern, words_of
from bella_vista.local.understanding.meaning import Draft
from bella_vista.local.understanding.menu.names import Names
from bella_vista.local.understanding.messages.pieces import NAME, NUMBER, WORD, cut
from bella_vista.local.understanding.statements.heard import Heard
from bella_vista.local.understanding.words.phrases import notes
from bella_vista.local.understanding.words.tokens import Words

_SURE = (
    *(
        "recorded",
        "rules",
        "asks robot",
        "call back",
        "complaint",
        "human",
        "robot",
        "abuse",
        "cancel",
    ),
    *("start over", "booking", "status", "bye", "thanks", "order", "back"),
)
"""Meanings of a whole clause, by the pattern. Nothing else is looked for in such a clause."""

_WHOLE = (
    *_SURE[:12],
    *("place", "done", "right", "bye", "thanks", "no", "yes", "nothing", "repeat", "wait"),
    *("back", "order", "puzzled"),
)
"""Further meanings of a clause; some clauses have several."""

_ENDING = ("done", "nothing", "once no", "once yes")
"""Ways to say that nothing more is wanted, by the pattern."""
_ANSWERS = frozenset({"yes", "no", "nothing"})
_OPEN = (None, "open", "yes_no", "name too")
"""Questions to which agreement is an answer."""
_FOR_A_PERSON = {"human": "", "call back": "Call back: ", "complaint": "Complaint: "}
"""Occasions to call a person, with the beginning of the reason that the staff read."""
_LONGEST_END = 12
_LONGEST_REASON = 200


class Talk:
    """Takes small talk out of clauses.

    Args:
        names: The menu's names: a word that names something is no small talk.
        heard: Where intents are noted.
        expects: What was asked for.
    """

    def __init__(self, names: Names, heard: Heard, expects: str | None = None) -> None:
        self._names = names
        self._heard = heard
        self._expects = expects
        self.answer = ""

    def take(self, words: Words) -> Words:
        """Note what a clause says in the way of small talk, and return the rest of it.

        ``answer`` is then the yes, the no or the nothing that was in it.
        """
        self.answer = ""
        words = self._done_last(self._thanks_last(self._greeting(self._over(words))))
        said = bare(words)
        possible = sorted(_required().possible(with_digit(said.split()))) if said else ()
        meant = [_WHOLE[at] for at in possible if pattern(_WHOLE[at]).fullmatch(said)]
        if self._expects == "name too" and words.tokens and said in words_of("given names"):
            return words
        if not meant and (pattern("done").fullmatch(_begun(said)) or _ends_twice(said)):
            meant = ["done"]  # "okay, done"
        if "complaint" in meant and pattern("status").fullmatch(said):
            self._heard.meant("status")
        if words.find(pattern("see you")) is not None:
            self._heard.meant("see you")
        if self._expects == "yes_no" and words.find(pattern("forgot")) is not None:
            meant = [intent for intent in meant if intent != "complaint"]
        for intent in meant:
            if intent in _SURE:
                self._note(intent, words)
                return words.part(0, 0)
        if self._expects == "amount" and "yes" in meant and "go" in said.split():
            meant.append("place")  # asked for a tip, "go ahead" is no yes to that
        if not meant and self._agrees(words):
            meant.append("right")
        if self._expects == "yes_no" and "right" in meant and "no" not in said.split():
            meant.append("yes")
        if not meant:
            return self._answer_first(words)
        named = self._names.meaning(said)
        is_name = named is not None and bool(named.kinds)
        for intent in meant:
            if intent in _ANSWERS:
                self.answer = intent
            if not (is_name and intent in _ANSWERS):
                self._note(intent, words)
        return words if is_name else words.part(0, 0)

    def _over(self, words: Words) -> Words:
        """Note that the order is dropped where another begins behind that, and return that one."""
        found = words.find(pattern("over"))
        if found is None:
            return words
        rest = words.part(found.last, len(words.tokens))
        if any(self._names.longest(rest.tokens, at) for at in range(len(rest.tokens))):
            self._heard.meant("start over")
            return rest
        return words

    def _agrees(self, words: Words) -> bool:
        """Whether a clause agrees: "yes, all of that is right now".

        Where a yes was asked for, anything else may be said around it, but for a food, a number, or a
        word that takes it back.
        """
        said = {token.word for token in words.tokens if not token.stop}
        if pattern("asks begins").match(words.said) or words.said.endswith("?"):
            return False
        if self._expects == "yes_no":
            return (
                bool(said & words_of("agreeing"))
                and not said & words_of("disagreeing")
                and (words.whole(pattern("found right")) is not None or remark(words, self._names))
            )
        agreeing = words_of("agreeing") | words_of("around agreeing") | words_of("soft after")
        sure = words_of("surely agreeing")
        return self._expects in _OPEN and bool(said & sure) and said <= agreeing

    def _note(self, intent: str, words: Words) -> None:
        asks_back = intent in ("asks robot", "robot") and words.whole(pattern("a human"))
        bot = pattern("a bot").search(words.said)
        self._heard.meant("a human" if asks_back and not bot else intent.removeprefix("asks "))
        reason = words.typed().strip(" .,!?")
        if intent in _FOR_A_PERSON:
            reason = f"{_FOR_A_PERSON[intent]}{reason}"[:_LONGEST_REASON]
            self._heard.wish(words, "call_person", reason=reason or "The guest asked for a person.")
        elif intent == "cancel":
            self._heard.wish(words, "cancel_order")

    def _greeting(self, words: Words) -> Words:
        first = 0
        while first < len(words.tokens) and words.tokens[first].stop:
            first += 1
        rest = words.part(first, len(words.tokens))
        found = pattern("greeting").match(rest.said)
        if found is None or self._names.longest(rest.tokens, 0) is not None:
            return rest
        self._heard.meant("greeting")
        return self._greeting(rest.part(len(found.group().split()), len(rest.tokens)))

    def _thanks_last(self, words: Words) -> Words:
        last = len(words.tokens)
        while last and words.tokens[last - 1].stop:
            last -= 1
        for length in (4, 3, 2, 1):
            run = words.part(max(0, last - length), last)
            if length < last and run.whole(pattern("thanks")):
                self._heard.meant("thanks")
                return words.part(0, last - length)
        return words

    def _done_last(self, words: Words) -> Words:
        """Note a "that is all", or a "place it", behind something else."""
        stops = [at for at, token in enumerate(words.tokens) if token.stop]
        last = stops[-1] if stops else 0
        placing = words.find(pattern("place last"))
        if placing is not None and placing.first:
            self._heard.meant("place")
            return words.part(0, placing.first)
        if last and pattern("done").fullmatch(bare(words.part(last + 1, len(words.tokens)))):
            self._heard.meant("done")
            return words.part(0, last)
        return words

    def ends(self, words: Words) -> Words:
        """Note a "that is all" that is left of a clause beside a way or a name: "nah we are good that is it"."""
        run, done = bare(words).split(), False
        while run:
            said = " ".join(run)
            found = [(name, one) for name in _ENDING if (one := pattern(name).match(said))]
            if found:
                name, match = found[0]
                done = done or name == "done"
                run = run[len(match.group().split()) :]
            elif run[0] in words_of("soft after") | words_of("soft words"):
                run.pop(0)
            else:
                return words
        if not done:
            return words
        self._heard.meant("done")
        return words.part(0, 0)

    def _answer_first(self, words: Words) -> Words:
        """Note a yes, a no, or a "that is all" in front of something else."""
        if self._names.longest(words.tokens, 0) is not None:
            return words
        if (found := pattern("done").match(words.said)) is not None:
            length = len(found.group().split())
            rest = words.part(length, len(words.tokens))
            if (thanks := pattern("thanks").match(rest.said)) is not None:
                rest = rest.part(len(thanks.group().split()), len(rest.tokens))
            goes_on = rest.tokens and (
                rest.tokens[0].stop or rest.tokens[0].word in words_of("after done")
            )
            if length > 1 and goes_on:
                self._heard.meant("done")
                again = pattern("done").fullmatch(bare(rest))  # "that's it, no more food"
                return rest.part(0, 0) if again else rest
        for intent in ("yes", "no"):
            found = pattern(intent).match(words.said)
            if found is None:
                continue
            length = len(found.group().split())
            following = words.tokens[length] if length < len(words.tokens) else None
            if following is None or following.stop or following.word in words_of("after answer"):
                self._heard.meant(intent)
                self.answer = intent
                # A "no" may take something back, which is seen later; a "yes" or a "wrong" says no more.
                if intent == "no" and words.tokens[0].word not in ("wrong", "incorrect", "that"):
                    return words
                return words.part(length, len(words.tokens))
            if intent == "yes" and length == 1 and words.tokens[0].word in words_of("sure yes"):
                self._heard.meant(intent)
                return words.part(1, len(words.tokens))
        return words


def remark(words: Words, names: Names, *, numbers: bool = False) -> bool:
    """Whether a clause says nothing of an order: no name of the menu, no food, no number, no change.

    Args:
        words: The clause.
        names: The menu's names.
        numbers: Whether a number that counts nothing of the menu says nothing, either.
    """
    for piece in cut(words, names):
        said = {*piece.words.split()}
        before = words.tokens[piece.first - 1].word if piece.first else ""
        if piece.does(NAME) and not said <= words_of("weak names"):
            return False
        if piece.does(NUMBER) and not numbers and piece.words != "one":
            return False
        if piece.does(lexicon.MAKE, lexicon.SWAP, lexicon.DROP) and before != "not" and not numbers:
            return False
        if piece.does(WORD) and any(map(vocabulary.is_food, said)):
            return False
        strange = piece.does(WORD) and not vocabulary.is_common(piece.words)
        if strange and before in ("a", "an", "some"):
            return False  # "card, and a blorg"
    return True


def comment(words: Words) -> str | None:
    """Return what was said about the evening, unless it is a short answer or a question."""
    said = bare(words)
    stops = [index for index, token in enumerate(words.tokens) if token.stop]
    pieces = [
        words.part(first + 1, last)
        for first, last in pairwise((-1, *stops, len(words.tokens)))
        if last > first + 1
    ]
    if words.tokens[-1].word == "?" or _short(said) or all(_short(bare(one)) for one in pieces):
        return None
    first = words.part(0, stops[0] if stops else len(words))
    if pattern("orders more").match(said) is not None:
        return None
    declines = any(pattern(intent).fullmatch(first.said) for intent in ("no", "done"))
    if declines and len(said.split()) < 6:
        return None
    return words.typed() or None


def kept(said: str, words: Words) -> list[Draft]:
    """Keep a comment on the evening; of a complaint a person hears at once."""
    made = [Draft("give_feedback", {"comment": said})]
    if any(pattern("complaint").fullmatch(one) for one in (words.said, bare(words))):
        made.append(Draft("call_person", {"reason": f"Complaint: {said}"[:_LONGEST_REASON]}))
    return made


def _short(said: str) -> bool:
    short = ("yes", "no", "done", "bye", "thanks", "nothing", "human", "robot", "wait", "repeat")
    return any(pattern(intent).fullmatch(said) for intent in short)


def _begun(said: str) -> str:
    """Leave out the words that only begin an answer: "okay", "alright then"."""
    run = said.split()
    while len(run) > 1 and run[0] in words_of("joints") | words_of("soft words"):
        run.pop(0)
    return " ".join(run)


def _ends_twice(said: str) -> bool:
    """Whether a clause says more than once that it is all: "that's everything thanks nothing else"."""
    words = said.split()
    if not may_match(pattern("done"), with_digit(words)):
        return False
    reached = {0: False}  # the places to which all is said, and whether any of it ends the order
    for end in range(1, len(words) + 1 if len(words) <= _LONGEST_END else 1):
        for start, ends in [*reached.items()]:
            run = " ".join(words[start:end])
            if pattern("done").fullmatch(run):
                reached[end] = True
            elif pattern("thanks").fullmatch(run) or pattern("no").fullmatch(run):
                reached[end] = reached.get(end, False) or ends
    return reached.get(len(words), False)


@cache
def _required() -> RequiredWords:
    return RequiredWords([pattern(intent) for intent in _WHOLE])


def bare(words: Words) -> str:
    """Return the words of a clause without stops, and without politeness around them."""
    run = [token.word for token in words.tokens if not token.stop]
    while len(run) > 1 and run[0] in words_of("soft words"):
        if (said := " ".join(run)) in notes() or pattern("yes").fullmatch(said):
            break  # "well done" is how a steak is wanted, and "uh huh" a yes
        run.pop(0)
    while len(run) > 1 and run[-1] in words_of("soft after"):
        run.pop()
    return " ".join(run)
