"""A language model from sentences: its probabilities add up, and the ARPA format holds them."""

from collections import defaultdict
from math import isclose

import pytest

from agents.app.local_speech.trigrams import arpa

SENTENCES = (
    "two large margheritas",
    "two large margheritas please",
    "one margherita",
    "yes please",
)


def model(text: str) -> tuple[dict[tuple[str, ...], float], dict[tuple[str, ...], float]]:
    """Return the probabilities and the weights of shorter histories."""
    chances: dict[tuple[str, ...], float] = {}
    weights: dict[tuple[str, ...], float] = {}
    for line in text.splitlines():
        chance, *rest = line.split("\t")
        if rest:
            gram = tuple(rest[0].split())
            chances[gram] = 10 ** float(chance)
            weights[gram] = 10 ** float(rest[1]) if len(rest) > 1 else 1.0
    return chances, weights


def test_the_words_after_every_history_are_as_probable_as_one() -> None:
    chances, weights = model(arpa(SENTENCES))
    words = [gram[0] for gram in chances if len(gram) == 1 and gram != ("<s>",)]
    histories = {gram[:-1] for gram in chances if len(gram) > 1}

    def chance(history: tuple[str, ...], word: str) -> float:
        gram = (*history, word)
        if gram in chances:
            return chances[gram]
        return weights.get(history, 1.0) * chance(history[1:], word)

    assert isclose(sum(chances[(word,)] for word in words), 1, abs_tol=1e-3)
    for history in histories:
        assert isclose(sum(chance(history, word) for word in words), 1, abs_tol=1e-3), history


def test_what_was_seen_is_likelier_than_what_was_not_and_nothing_is_impossible() -> None:
    chances, weights = model(arpa(SENTENCES))

    assert chances["two", "large", "margheritas"] > 0.5
    assert chances["<s>", "two"] > chances["<s>", "one"]
    assert all(0 < one <= 1 for gram, one in chances.items() if gram != ("<s>",))
    assert all(0 < one <= 1 for one in weights.values())


def test_the_counts_at_the_beginning_are_those_of_the_parts() -> None:
    lines = arpa(SENTENCES).splitlines()
    told = {int(line[6]): int(line.partition("=")[2]) for line in lines if line.startswith("ngram")}
    parts: dict[int, int] = defaultdict(int)
    for line in lines:
        if "\t" in line:
            parts[len(line.split("\t")[1].split())] += 1

    assert told == parts
    assert lines[-1] == "\\end\\"


@pytest.mark.parametrize("often", [1, 50])
def test_a_sentence_that_is_there_more_often_counts_more(often: int) -> None:
    chances, _ = model(arpa([*SENTENCES, *["yes please"] * often]))

    assert (chances["<s>", "yes"] > chances["<s>", "two"]) is (often > 1)
