import time

import pytest
from livekit.agents.job import JobAcceptArguments, RunningJobInfo
from livekit.protocol import agent, models

from agents.app.dispatch.dispatcher import LIVED_S, AgentJob
from agents.app.job_metadata import JobMetadata, MetadataFaults


def running(metadata: str, *, identity: str = "", ago_s: float = 0) -> RunningJobInfo:
    job = agent.Job(
        id="AJ_1", room=models.Room(name="room"), agent_name="bella-vista", metadata=metadata
    )
    arguments = JobAcceptArguments(name="", identity=identity, metadata="")
    return RunningJobInfo(
        arguments, job, "", "", "AW_1", fake_job=False, launched_at=time.time() - ago_s
    )


def test_the_next_agent_is_told_whose_place_it_takes_and_how_often_that_was() -> None:
    place = AgentJob.of(running('{"user": "ada", "tries": 1}'))

    assert (place.room, place.identity) == ("room", "agent-AJ_1")
    assert place.next_metadata == JobMetadata(user="ada", supersedes="AJ_1", tries=2)


def test_after_a_call_of_some_length_the_count_begins_anew() -> None:
    place = AgentJob.of(running('{"tries": 3}', identity="me", ago_s=LIVED_S + 1))

    assert place.identity == "me"
    assert place.next_metadata.tries == 1


def test_superseding_a_living_agent_counts_no_loss() -> None:
    place = AgentJob.of(running('{"user": "ada", "tries": 1}'))
    later = AgentJob.of(running('{"tries": 3}', ago_s=LIVED_S + 1))

    assert place.metadata_when_moved == JobMetadata(user="ada", supersedes="AJ_1", tries=1)
    assert later.metadata_when_moved.tries == 0


def test_a_job_with_unreadable_metadata_had_no_call() -> None:
    with pytest.raises(MetadataFaults):
        AgentJob.of(running("nonsense"))
