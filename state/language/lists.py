"""Lists of words and phrases, written as texts."""


def listed(text: str) -> tuple[str, ...]:
    """Split a text into its words and phrases, which commas separate.

    >>> listed("oat, oat milk")
    ('oat', 'oat milk')
    """
    return tuple(" ".join(phrase.split()) for phrase in text.split(","))
