"""The models and voices of speech that the services have, as far as the stand-ins know them."""

import re
from collections.abc import Iterable

from agents.testing.providers.script import Provider

_NOVA_2 = (
    "meeting phonecall finance conversationalai voicemail video medical drivethru automotive atc"
)

_MODELS: dict[Provider, frozenset[str]] = {
    "deepgram": frozenset(
        "nova nova-general nova-phonecall nova-meeting nova-2 nova-2-general nova-3 nova-3-general"
        " nova-3-medical nova-3-multilingual enhanced enhanced-general enhanced-meeting"
        " enhanced-phonecall enhanced-finance base flux-general-en flux-general-multi".split()
    )
    | {f"nova-2-{kind}" for kind in _NOVA_2.split()},
    "cartesia": frozenset("sonic sonic-2 sonic-lite sonic-preview sonic-turbo sonic-3".split()),
    "openai": frozenset(
        "tts-1 tts-1-hd gpt-4o-mini-tts whisper-1 gpt-4o-transcribe gpt-4o-mini-transcribe".split()
    ),
}

_VOICES: dict[Provider, frozenset[str]] = {
    # The voice that livekit's plugin asks for by default; there are some hundred others.
    "cartesia": frozenset(("f786b574-daa5-4673-aa0c-cbe3e8534c02",)),
    "openai": frozenset(
        "alloy ash ballad cedar coral echo fable marin nova onyx sage shimmer verse".split()
    ),
}

_DATE = re.compile(r"-\d{4}-\d\d-\d\d$")


class Names:
    """The names of models and voices that the stand-ins accept.

    Args:
        models: Models beside the known ones.
        voices: Voices beside the known ones.
    """

    def __init__(self, models: Iterable[str] = (), voices: Iterable[str] = ()) -> None:
        self._models, self._voices = frozenset(models), frozenset(voices)

    def has_model(self, provider: Provider, name: object) -> bool:
        """Whether a provider has a model; a release of a known one has its date at the end.

        >>> [Names().has_model("cartesia", name) for name in ("sonic-3-2025-10-27", "sonic-99")]
        [True, False]
        """
        return name in self._models or _DATE.sub("", str(name)) in _MODELS[provider]

    def has_voice(self, provider: Provider, name: object) -> bool:
        """Whether a provider has a voice."""
        return name in self._voices or name in _VOICES[provider]
