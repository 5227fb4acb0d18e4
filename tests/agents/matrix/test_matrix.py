"""Every row of the matrix, in text and aloud; and what plain livekit-agents makes of the same replies."""

import pytest

from agents.handoff import YourTurn
from tests.agents.matrix.plain import Data, Plain
from tests.agents.matrix.rows import ROWS, Row
from tests.agents.matrix.stage import CHANNELS, Channel, Talk


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("row", ROWS, ids=str)
async def test_the_invariants_hold(row: Row, channel: Channel) -> None:
    async with Talk(row.replies, channel, stay=row.before, **row.policy) as talk:
        happened = await talk.user_says("What can you do for me?")
        later = await talk.quiet()

        assert tuple(talk.said) == row.said
        assert tuple(talk.handoffs) == row.handoffs
        assert tuple(talk.refused) == row.refused
        assert talk.call.state == row.stay
        shown = talk.shown()
        assert [text for text in row.told if text not in shown] == []
        assert [text for text in row.not_told if text in shown] == []
        assert [event.turn for event in happened if isinstance(event, YourTurn)] == [1]
        assert later == []
        talk.holds()
        await talk.goes_on()


BY_HAND = [row for row in ROWS if row.plain is not None]


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("row", BY_HAND, ids=str)
async def test_plain_livekit_fails_it(row: Row, channel: Channel) -> None:
    expected = row.plain
    assert expected is not None
    # What a model says next is given again: plain livekit may ask for more replies than ours.
    async with Plain(row.replies, channel, data=Data(nights=row.before.nights)) as talk:
        await talk.user_says("What can you do for me?")

        assert tuple(talk.said) == expected.said
        assert talk.speaker == expected.speaker
        assert talk.data == expected.data
        assert expected.asked in (None, len(talk.model.asked))
