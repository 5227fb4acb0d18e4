import pytest

from agents.app.job_metadata import JobMetadata, MetadataFaults


def faults(text: str) -> tuple[str, ...]:
    with pytest.raises(MetadataFaults) as caught:
        JobMetadata.parse(text, "order")
    return caught.value.faults


@pytest.mark.parametrize("text", ["", " \n", "{}", '{"order_id": null}'])
def test_a_dispatch_need_say_nothing(text: str) -> None:
    assert JobMetadata.parse(text, "order") == JobMetadata(noun="order")


def test_what_a_dispatch_says_is_read_and_written_again() -> None:
    text = '{"order_id":"abcd","resume_code":"x.y","channel":"phone","locale":"en-US","user":"ada"}'

    metadata = JobMetadata.parse(text, "order")

    assert (metadata.state_id, metadata.channel, metadata.user) == ("abcd", "phone", "ada")
    assert metadata.tries == 0
    assert metadata.text() == text


def test_everything_that_is_wrong_is_said_and_nothing_of_it_repeated() -> None:
    said = faults('{"channel": "SECRET", "tries": "SECRET", "user": 7, "ordr_id": "SECRET"}')

    assert [line.partition(":")[0] for line in said] == [
        "channel",
        "user",
        "tries",
        'there is no field "ordr_id"',
    ]
    assert "SECRET" not in " ".join(said)


@pytest.mark.parametrize(
    "text",
    [
        *("[]", "null", "5", '"order"', "{", "{} {}", "order=abcd"),
        *('{"user": "\\ud800"}', "[" * 9000, '{"user": "ada", "user": "eve"}'),
    ],
)
def test_what_is_no_object_is_refused(text: str) -> None:
    assert faults(text) == ("the metadata is not a JSON object with each field once",)


@pytest.mark.parametrize(
    "text",
    [
        '{"locale": "english"}',
        '{"locale": "en-US; drop"}',
        '{"user": ""}',
        '{"order_id": ""}',
        '{"state_id": "abcd"}',
        '{"noun": "visit"}',
        '{"tries": -1}',
        '{"tries": true}',
        '{"tries": 1.5}',
        '{"supersedes": "%s"}' % ("x" * 200),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str) -> None:
    assert len(faults(text)) == 1
