"""Bad sound in a real room, heard by local speech: it orders nothing, and typing works beside it."""

from agents.app.local_speech.language_models import LanguageModels, language_models
from agents.app.local_speech.local_stt import LocalSTT
from agents.app.models.speech import SpeechModels, load_vad
from agents.app.rooms.media import Media
from agents.handoff import Event, Heard, Said, turns_by
from agents.testing import ToneTTS
from tests.agents.app.rooms.conftest import Agent, Calls, Changed
from tests.livekit import LiveKit, until
from tests.sounds import RATE, changed_sound, every_second_packet, spoken, spoken_in
from tests.speaking import speaking

LINE = "two large Margheritas please"
