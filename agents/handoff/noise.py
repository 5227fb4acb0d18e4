"""Noise suppression of the user's audio, on this machine."""

from livekit import rtc

_PIECE_S = 0.01
"""The length of the pieces that the audio processing module takes, in seconds."""


class NoiseSuppressor(rtc.FrameProcessor[rtc.AudioFrame]):
    """Suppresses steady noise and rumble with WebRTC's audio processing module."""

    def __init__(self) -> None:
        self._enabled = True
        self._module = rtc.AudioProcessingModule(noise_suppression=True, high_pass_filter=True)

    @property
    def enabled(self) -> bool:
        """Whether frames are processed."""
        return self._enabled

    @enabled.setter
    def enabled(self, value: bool) -> None:
        self._enabled = value

    def _process(self, frame: rtc.AudioFrame) -> rtc.AudioFrame:
        """Return a frame without its noise; a rest shorter than 10 ms stays as it is."""
        size = round(frame.sample_rate * _PIECE_S)
        step = size * frame.num_channels * 2  # bytes of 16 bits
        data = bytearray(frame.data.cast("B"))
        for start in range(0, len(data) - step + 1, step):
            piece = rtc.AudioFrame(
                data[start : start + step], frame.sample_rate, frame.num_channels, size
            )
            self._module.process_stream(piece)
            data[start : start + step] = piece.data.cast("B")
        return rtc.AudioFrame(
            data,
            frame.sample_rate,
            frame.num_channels,
            frame.samples_per_channel,
            userdata=frame.userdata,
        )

    def _close(self) -> None:
        """Nothing to close: the module is freed with this object."""
