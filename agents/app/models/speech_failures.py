"""Logs why a speech provider has failed, and the setting to check."""

import logging
from dataclasses import dataclass, field

from livekit.agents.stt import STTError
from livekit.agents.tts import TTSError

from agents.app.settings import AppSettings
from agents.handoff.failures import status_of, why_model_failed

logger = logging.getLogger(__name__)

_STT_FAILED, _TTS_FAILED = "speech-to-text provider failed", "text-to-speech provider failed"
_KEY_STATUSES, _ACCOUNT_STATUSES = (401, 403), (402, 429)


@dataclass
class SpeechFailures:
    """Logs the failures of one speech model, each cause once.

    Args:
        settings: The settings, for the names of their variables.
        provider: The model's provider.
        model: The setting of the model's name.
        voice: The setting of its voice, if it has one.
        address: The setting of its server's address, if it has one.
    """

    settings: AppSettings
    provider: str
    model: str
    voice: str = ""
    address: str = ""
    _logged: set[str] = field(default_factory=set, init=False)

    def failed(self, event: STTError | TTSError) -> None:
        """Log a failure."""
        what = _STT_FAILED if isinstance(event, STTError) else _TTS_FAILED
        line = f"{what}: {self.provider}: {why_model_failed(event.error)}"
        if names := self._settings_to_check(event.error):
            line = f"{line}: check {names}"
        if line not in self._logged:
            self._logged.add(line)
            logger.error(line)

    def _settings_to_check(self, error: Exception) -> str:
        status = status_of(error)
        if status in _KEY_STATUSES:
            names = [f"{self.provider}_api_key"]
        elif status is None:
            names = [self.address]
        elif status in _ACCOUNT_STATUSES or status >= 500:
            names = []
        else:  # the provider's text names the wrong setting; the text itself is not logged
            text = str(error).lower()
            given = [name for name in (self.voice, self.model) if name]
            named = [name for name in given if name.rpartition("_")[2].removesuffix("s") in text]
            names = named or ([*given, self.address] if status == 404 else given)
        return " and ".join(self.settings.variable(name) for name in names if name)
