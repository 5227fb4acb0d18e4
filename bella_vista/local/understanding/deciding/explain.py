"""Shows how a line was understood: the readings that were weighed, and what each word became and cost."""

from collections.abc import Iterator, Sequence

from bella_vista.local.understanding.deciding.deciding import Decided
from bella_vista.local.understanding.readings.reading import shown
from bella_vista.local.understanding.words.tokens import Token

_MOST = 3


def explained(tokens: Sequence[Token], weighed: Sequence[Decided]) -> Iterator[str]:
    """Return the lines that explain a decision: the reading that won, then the next best.

    Args:
        tokens: The words that were read.
        weighed: The readings, the best first.
    """
    if not weighed:
        yield "nothing of an order"
    for rank, decided in enumerate(weighed[:_MOST]):
        reading = decided.reading
        if reading is None:
            continue
        fits = decided.cost - reading.cost
        title = "reading" if rank == 0 else f"next best {rank}"
        yield f"{title}: {decided.cost:.2f} = {reading.cost:.2f} in words {fits:+.2f} on the order"
        yield f"  means  {'; '.join(shown(decided.said)) or 'nothing'}"
        yield f"  makes  {'; '.join(_drafts(decided)) or 'no command'}"
        for question in decided.questions:
            yield f"  asks   {question.code} {question.facts.get('words') or ''}".rstrip()
        if rank == 0:
            yield from _words(tokens, decided)


def _drafts(decided: Decided) -> Iterator[str]:
    for _, draft in decided.drafts:
        fields = " ".join(f"{key}={value}" for key, value in draft.fields.items())
        yield f"{draft.op} {fields}"


def _words(tokens: Sequence[Token], decided: Decided) -> Iterator[str]:
    """Say what each step of the reading made of which words, at what cost."""
    if decided.reading is None:
        return
    for step in decided.reading.steps:
        last = max(step.first + 1, step.edge.end)
        words = " ".join(token.word for token in tokens[step.first : last])
        named = f" {step.edge.entity.words}" if step.edge.entity.number else ""
        does = f"{step.edge.does}{named}" if step.edge.does else "passed over"
        yield f"    {step.cost:5.2f}  {words:28s} {does}"
