"""What English words do in a question or beside an order, read from ``state/language/en/pieces.txt``."""

from collections.abc import Mapping

from bella_vista.local.english.talking import blocks

AND, BUT, ARTICLE, TO = "and", "but", "article", "to"
PRONOUN, SORRY, FILLER, SHOULD = "pronoun", "sorry", "filler", "should"
TAKE, MAKE, SWAP, DROP = "take", "make", "swap", "drop"

PHRASES: Mapping[str, str] = {
    phrase: tag
    for tag, lines in blocks("pieces").items()
    for line in lines
    for phrase in line.split(", ")
}
"""Each phrase and what it does."""

LONGEST_PHRASE = max(len(phrase.split()) for phrase in PHRASES)
