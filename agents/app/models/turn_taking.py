"""The settings of turn taking on a channel: the end of a turn, and interruptions."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agents.app.parts import Channel
from agents.app.setting_values import by_channel
from agents.app.settings import AppSettings

if TYPE_CHECKING:
    from livekit.agents.vad import VAD
    from livekit.agents.voice.turn import TurnHandlingOptions

DETECTOR_SILENCE_S = 0.25
"""The least silence at the end of speech with which LiveKit's turn detector works, in seconds."""


@dataclass(frozen=True)
class TurnTaking:
    """The settings of turn taking on one channel; see ``AppSettings``."""

    min_delay_s: float
    max_delay_s: float
    turn_detector: bool
    interruption_s: float
    interruption_words: int
    resume_after_s: float
    vad_threshold: float
    vad_silence_s: float
    noise_suppression: bool
    tone_after_s: float

    def turns(self, vad: "VAD") -> "TurnHandlingOptions":
        """Return the turn handling options."""
        from agents.handoff import turns_by

        usual = turns_by(vad)
        detection: Any = usual.get("turn_detection")
        if self.turn_detector:
            from livekit.agents.inference import TurnDetector

            # Without a version livekit uses the detector in LiveKit Cloud if there are keys for it.
            detection = TurnDetector(version="v1-mini")
        return {
            **usual,
            "turn_detection": detection,
            "endpointing": {
                "mode": "fixed",
                "min_delay": self.min_delay_s,
                "max_delay": self.max_delay_s,
            },
            "interruption": {
                **usual.get("interruption", {}),
                "min_duration": self.interruption_s,
                "min_words": self.interruption_words,
                "resume_false_interruption": self.resume_after_s > 0,
                "false_interruption_timeout": self.resume_after_s or None,
            },
        }

    def tune(self, vad: "VAD") -> None:
        """Set the options of a voice activity detection model, if it has them."""
        update: Any = getattr(vad, "update_options", None)
        if update is not None:
            update(
                activation_threshold=self.vad_threshold,
                # The same distance as in the model's defaults: the hysteresis avoids rapid changes.
                deactivation_threshold=max(0.05, self.vad_threshold - 0.15),
                min_silence_duration=self.vad_silence_s,
            )


def turn_taking(settings: AppSettings, channel: Channel) -> TurnTaking:
    """Return the turn taking of a channel."""
    where = "phone" if channel == "phone" else "web"
    return TurnTaking(
        min_delay_s=by_channel(settings.turn_min_delay)[where],
        max_delay_s=by_channel(settings.turn_max_delay)[where],
        turn_detector=settings.turn_detector in ("on", where),
        interruption_s=by_channel(settings.interruption)[where],
        interruption_words=round(by_channel(settings.interruption_words)[where]),
        resume_after_s=by_channel(settings.resume_after)[where],
        vad_threshold=by_channel(settings.vad_threshold)[where],
        vad_silence_s=by_channel(settings.vad_silence)[where],
        noise_suppression=settings.noise_suppression in ("on", where),
        tone_after_s=by_channel(settings.tone_after)[where],
    )


def turn_taking_faults(settings: AppSettings) -> tuple[str, ...]:
    """List the faults of the combined settings of turn taking, by variable."""
    faults = []
    for channel in ("web_voice", "phone"):
        taking = turn_taking(settings, channel)
        where = "phone" if channel == "phone" else "web"
        if taking.max_delay_s < taking.min_delay_s:
            faults.append(
                f"{settings.variable('turn_max_delay')}: is below"
                f" {settings.variable('turn_min_delay')} ({where})"
            )
        if taking.turn_detector and taking.vad_silence_s < DETECTOR_SILENCE_S:
            faults.append(
                f"{settings.variable('vad_silence')}: the turn detector needs at least"
                f" {DETECTOR_SILENCE_S:g} ({where})"
            )
    return tuple(faults)
