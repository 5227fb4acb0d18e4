"""What the local model says, in English: every sentence stands here, and nowhere else.

The questions among them are found again in what was said (``topic``), because a model remembers nothing
but the conversation it is shown.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum


class Topic(StrEnum):
    """What the last sentence asked for."""

    NOTHING = ""
    ANYTHING_ELSE = "anything_else"
    READ_AGAIN = "read_again"
    SUGGESTION = "suggestion"
    WANTED = "wanted"
    FULFILMENT = "fulfilment"
    ADDRESS = "address"
    POSTCODE = "postcode"
    MINIMUM = "minimum"
    WHEN = "when"
    NAME = "name"
    CONFIRM = "confirm"
    PAYMENT = "payment"
    TIP = "tip"
    PLACE = "place"
    RATING = "rating"
    COMMENT = "comment"
    KEEP = "keep"


_ASKS: tuple[tuple[str, Topic], ...] = (
    ("with that, or anything else?", Topic.SUGGESTION),
    ("Anything else?", Topic.ANYTHING_ELSE),
    ("I will read it back again before we place it.", Topic.READ_AGAIN),
    ("or shall I read it back to you?", Topic.READ_AGAIN),
    ("What would you like?", Topic.WANTED),
    ("What would you like to order?", Topic.WANTED),
    ("What should I change?", Topic.WANTED),
    ("What else would you like?", Topic.WANTED),
    ("pick it up, or shall we deliver it?", Topic.FULFILMENT),
    ("What is the address, with its postcode?", Topic.ADDRESS),
    ("What is its postcode?", Topic.POSTCODE),
    ("or rather pick it up?", Topic.MINIMUM),
    ("When would you like it?", Topic.WHEN),
    ("What name shall I put it under?", Topic.NAME),
    ("May I have your name", Topic.NAME),
    ("Is that right?", Topic.CONFIRM),
    ("right as I read it to you?", Topic.CONFIRM),
    ("How would you like to pay", Topic.PAYMENT),
    ("Would you like to add a tip", Topic.TIP),
    ("Shall I place the order?", Topic.PLACE),
    ("from one to five stars?", Topic.RATING),
    ("rate this call, from one to five stars.", Topic.RATING),
    ("Would you like to tell us more?", Topic.COMMENT),
    ("Shall I cancel the whole order?", Topic.KEEP),
)


def topic(text: str) -> Topic:
    """Find what a sentence of ours asked for; the last question counts.

    >>> topic("Noted. Anything else?"), topic("Goodbye!")
    (<Topic.ANYTHING_ELSE: 'anything_else'>, <Topic.NOTHING: ''>)
    """
    found = [(text.rfind(words), subject) for words, subject in _ASKS if words in text]
    return max(found)[1] if found else Topic.NOTHING


EXPECTS: dict[Topic, str] = {
    Topic.CONFIRM: "yes_no",
    Topic.PLACE: "yes_no",
    Topic.KEEP: "yes_no",
    Topic.SUGGESTION: "open",
    Topic.FULFILMENT: "fulfilment",
    Topic.ADDRESS: "address",
    Topic.POSTCODE: "address",
    Topic.WHEN: "time",
    Topic.NAME: "name",
    Topic.PAYMENT: "choice",
    Topic.TIP: "amount",
    Topic.RATING: "rating",
    Topic.COMMENT: "comment",
}
"""What kind of answer each question waits for; the rest is open."""

ANYTHING_ELSE = "Anything else?"
WANTED = "What would you like to order?"
WHAT_ELSE = "What else would you like?"
CHANGE = "What should I change?"
FULFILMENT = "Will you pick it up, or shall we deliver it?"
ADDRESS = "What is the address, with its postcode?"
POSTCODE = "What is its postcode?"
WHEN = "When would you like it?"
MINIMUM = "Would you like to add something, or rather pick it up?"
NAME = "What name shall I put it under?"
CONFIRM = "Is that right?"
PLACE = "Shall I place the order?"
RATING = "How was this call, from one to five stars?"
RATE = "If you like, you can rate this call, from one to five stars."
STARS = "And how many stars would that be, from one to five stars?"
COMMENT = "Would you like to tell us more?"
NOT_UNDERSTOOD = "I am sorry, I did not follow that."
STILL_HERE = "You went on after that, so I am still here."
NOT_DONE = "I have not done that yet. Please say it again."
REALLY_CANCEL = "Shall I cancel the whole order?"

CARD = (
    "Please do not tell me a card number: it is not safe to say, and I did not keep it."
    " You pay when you get your food."
)
ROBOT = "Yes, I am the restaurant's automatic assistant, not a person."
PERSON = "I have let our staff know that you would like a person."
THANKS = "You are welcome."
NO_PRICES = "I cannot do that: prices are those on our menu, and I only know your own order."
TAKE_YOUR_TIME = "Take your time."
NO_SAFETY = (
    "I can only tell you what the menu lists. Our kitchen handles all of these, so I cannot promise that"
    " a dish is free of anything."
)
PLACED_ALREADY = (
    "Your order is with the kitchen, so I cannot change it any more. I can let our staff know."
)
CLOSED = "That order is closed, so I can add nothing to it. For a new one, please begin a new call."
MORE = "Is there anything else I can do for you?"
GOODBYE = "Thank you for calling. Goodbye!"


def listed(words: Sequence[str], join: str = "and") -> str:
    """Say several things in a row.

    >>> listed(["ham", "olives", "basil"]), listed(["ham", "olives"], "or"), listed([])
    ('ham, olives and basil', 'ham or olives', '')
    """
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {join} {words[-1]}"


_NUMBERS = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)


def careful(met: Mapping[str, Sequence[str]]) -> str:
    """Warn of what the menu lists of the guest's allergies.

    Args:
        met: The families by the dish.

    >>> print(careful({"Caprese": ["milk"], "Tiramisu": ["egg", "milk"], "Latte": ["milk"]}))
    Careful: the menu lists milk for the Caprese and the Latte, egg and milk for the Tiramisu, and you told me about that.
    >>> careful({})
    ''
    """
    if not met:
        return ""
    dishes: dict[tuple[str, ...], list[str]] = {}
    for name, families in met.items():
        dishes.setdefault((*families,), []).append(f"the {name}")
    said = [f"{listed(families)} for {listed(names)}" for families, names in dishes.items()]
    return f"Careful: the menu lists {', '.join(said)}, and you told me about that."


def not_on_the_menu(allergies: Sequence[str]) -> str:
    """Say that the menu says nothing about an allergy, and offer a person."""
    return (
        f"The menu does not say anything about {listed(allergies, 'or')}, so I cannot tell you what is in a dish. If"
        " you like, ask for a person, and our staff will help you."
    )


def number(count: int) -> str:
    """Say a number as a waiter writes it.

    >>> number(2), number(20)
    ('two', '20')
    """
    return _NUMBERS[count] if 0 <= count < len(_NUMBERS) else str(count)


def capital(text: str) -> str:
    """Begin a sentence."""
    return text[:1].upper() + text[1:]


_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def with_days(text: str) -> str:
    """Write the names of days as English does.

    >>> with_days("monday, tuesday 11:30-15:00")
    'Monday, Tuesday 11:30-15:00'
    """
    for day in _DAYS:
        text = text.replace(day, day.capitalize())
    return text


def joined(*sentences: str) -> str:
    """Put sentences after one another, leaving empty ones out, none twice."""
    return " ".join(dict.fromkeys(sentence.strip() for sentence in sentences if sentence.strip()))
