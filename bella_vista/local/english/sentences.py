"""The questions the local model asks back, in English."""

from collections.abc import Callable, Sequence

from bella_vista.local.understanding.meaning import Question

_MOST = 6
NO_NOUNS = frozenset(
    "cooked done made served sliced prepared eggs spicy hot warm how with style".split()
)
"""Names of groups that cannot follow "which": what they say is how something is done."""


def ask(question: Question) -> str:
    """Put a question to the guest in one or two sentences.

    >>> ask(Question("choice_missing", {"name": "Latte", "group": "size", "possible": ["small", "large"]}))
    'Which size would you like for the Latte: small or large?'
    """
    sentence = _SENTENCES.get(question.code, _unclear)
    return sentence(question)


def _listed(names: Sequence[str], joint: str = "or") -> str:
    if len(names) > _MOST:
        return f"{', '.join(names[:_MOST])} {joint} another one"
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {joint} {names[-1]}"


def _fact(question: Question, name: str, otherwise: str = "that") -> str:
    return str(question.facts.get(name) or otherwise)


def _choice_missing(question: Question) -> str:
    name, group = _fact(question, "name"), _fact(question, "group", "one")
    if group == "quantity":
        return f"How many {name} would you like?"
    if group == "parts":
        count = question.facts.get("count") or 1
        what = "Which one" if count == 1 else f"Which {count}"
        return f"{what} would you like with the {name}: {_listed(question.possible)}?"
    if group in NO_NOUNS or group in question.possible:
        return f"For the {name}, which one: {_listed(question.possible)}?"
    return f"Which {group} would you like for the {name}: {_listed(question.possible)}?"


def _ambiguous(question: Question) -> str:
    words = _fact(question, "words")
    return f'Which one do you mean by "{words}": {_listed(question.possible)}?'


def _not_on_menu(question: Question) -> str:
    words = _fact(question, "words")
    if question.possible:
        return f'I am sorry, "{words}" is not on our menu. Would you like {_listed(question.possible)}?'
    return f'I am sorry, "{words}" is not on our menu. What would you like instead?'


def _choice_not_possible(question: Question) -> str:
    name, words = _fact(question, "name"), _fact(question, "words")
    most = question.facts.get("most")
    if isinstance(most, int):
        return f"You can have at most {most} of {words} with the {name}. Which would you like?"
    if question.possible:
        return f'The {name} cannot be had with "{words}". Possible is {_listed(question.possible)}. What would you like?'
    return f'The {name} cannot be had with "{words}". Shall I take it as it is?'


def _sold_out(question: Question) -> str:
    name = _fact(question, "name")
    if question.possible:
        return f"I am sorry, we are out of {name} today. Would you like {_listed(question.possible)} instead?"
    return f"I am sorry, we are out of {name} today. Would you like something else?"


def _over_limit(question: Question) -> str:
    limit, name = question.facts.get("limit"), _fact(question, "name")
    return f"I can take at most {limit} of {name} myself. How many would you like, or shall a person help?"


def _which_line(question: Question) -> str:
    return f"Which one do you mean: {_listed(question.possible)}?"


def _not_found(question: Question) -> str:
    if question.facts.get("combo"):
        combo = question.facts["combo"]
        return (
            f'"{_fact(question, "words")}" is part of the {combo}, which I have left as it is.'
            f" To change it, tell me to take off the {combo}, and then the parts you would like."
        )
    return f'There is no "{_fact(question, "words")}" on your order. What should I change?'


def _coupon(question: Question) -> str:
    return f'I do not know the code "{_fact(question, "code")}". Would you check it, please?'


def _not_possible(question: Question) -> str:
    possible = _listed(question.possible)
    return f"We do not offer {_fact(question, 'what')}. Would you like {possible}?"


def _not_valid(question: Question) -> str:
    match question.facts.get("field"):
        case "rating":
            return "From one to five whole stars: how many is it?"
        case "phone":
            return "I did not get the whole telephone number. Would you say it again, please?"
        case "email":
            return "I did not get the whole e-mail address. Would you say it again, please?"
    return "That is not possible. Would you say it again, please?"


def _missing(question: Question) -> str:
    match question.facts.get("needs"):
        case "fulfilment":
            return f"Is that for {_listed(question.possible) or 'pickup'}?"
        case "time":
            return "At what time?"
        case "coupon":
            return "What is the code, please?"
        case "tip":
            return "How much would you like to tip, in percent or as an amount?"
        case "payment":
            return f"It can be one of them only: {_listed(question.possible)}. Which shall it be?"
        case "note_address":
            return "Shall I note that address for a delivery?"
        case "tip_unit":
            return f"Is that {question.facts.get('amount')} percent, or an amount?"
    return "What is missing, please?"


def _unclear(question: Question) -> str:
    return "I did not follow that. Would you say it in other words?"


_SENTENCES: dict[str, Callable[[Question], str]] = {
    "choice_missing": _choice_missing,
    "ambiguous": _ambiguous,
    "not_on_menu": _not_on_menu,
    "choice_not_possible": _choice_not_possible,
    "sold_out": _sold_out,
    "over_limit": _over_limit,
    "which_line": _which_line,
    "not_found": _not_found,
    "coupon_not_valid": _coupon,
    "not_possible": _not_possible,
    "not_valid": _not_valid,
    "missing": _missing,
}
