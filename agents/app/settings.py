"""Settings from options, the environment and ``.env``: one frozen object, or a list of all faults.

Options override the environment, which overrides ``.env`` in the working directory. Providers' settings have the
providers' own names. No fault and no ``repr`` shows a secret.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar, cast

from dotenv import dotenv_values
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict

from agents.app.faults import InputError
from agents.app.setting_values import (
    KEY_BYTES,
    KEY_MISSING,
    LOCAL,
    OPENAI_MODELS,
    Address,
    Key,
    Name,
    OnChannels,
    check_address,
    check_database,
    check_key,
    check_livekit_url,
    check_model,
    check_networks,
    check_origins,
    check_public_url,
    check_realtime_audio,
    check_voices,
    flag,
    is_local_address,
    needs_key,
    number_by_channel,
    parse_time,
)

_LIVEKIT = ("LIVEKIT_URL", "LIVEKIT_API_KEY", "LIVEKIT_API_SECRET")

_SHORTEST_SECRET = 8
"""The shortest secret that is redacted, in characters: shorter texts are placeholders and occur everywhere."""

_DEVKEY = "devkey"
"""The key of every livekit-server 1.13.5 started with ``--dev``."""


AgentName = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[\w.-]+$")]


class SettingsFaults(InputError):
    """The configuration cannot be used."""


class AppSettings(BaseSettings):
    """The settings of every application; one that has more of its own derives a class.

    The derived class names the prefix of the environment variables, and an agent name::

        class Settings(AppSettings):
            model_config = SettingsConfigDict(env_prefix="CLINIC_")
            agent_name: AgentName = "clinic"

    Args:
        model: ``local``, ``openai``, ``openai-realtime``, or ``script:FILE``.
        at: When the clock starts; now by default. Without an offset it is the application's
            local time.
        database: Where states are stored, as a URL; a file in the user's data directory by default.
        transcript: Whether the words of user and agents are stored beside the state: on or off.
        transcript_days: How long it is stored, in days, and up to two more; older transcripts are
            deleted when a call begins.
        record_calls: Whether calls with audio are recorded: the user is told so first, and may refuse.
        recordings: The folder of the recordings; by default beside the database.
        openai_base_url: The address of the language model's server; OpenAI's own by default.
        openai_model: The language model's name there.
        openai_realtime_model: The realtime model's name there.
        openai_realtime_transcription: The name of the model that transcribes the audio of a
            realtime model.
        realtime_audio: Whether a realtime model speaks without text-to-speech: ``off`` is the only
            value.
        openai_fallback_base_url: The server of the fallback model; the first one's by default.
        openai_fallback_model: The fallback model's name; the first one's by default.
        openai_fallback_api_key: The fallback server's key. The first server's key is never sent
            elsewhere.
        openai_local_last: Whether the local model is the last fallback.
        openai_patience: How long a user waits for the first word before they are told that
            something is wrong, in seconds.
        livekit_url: The address of the LiveKit server whose rooms are served.
        livekit_api_key: The LiveKit server's API key.
        livekit_api_secret: The API secret; it signs the tokens that let participants into rooms.
        agent_name: The agent name of dispatches to this application.
        grace: How long a user may be away before the call is over, in seconds.
        calls: How many calls one worker serves at once.
        idle: How many warmed-up processes wait for the next call.
        drain: How long a worker that was told to stop waits for its calls to end, in seconds.
        health_host: The address that serves health and metrics; 0.0.0.0 is every interface.
        health_port: The port of the health check; 0 is any free one.
        metrics_port: The port of the Prometheus metrics; without it they are not served.
        web_host: The address that the web server listens on; 0.0.0.0 is every interface.
        web_port: The web server's port; 0 is any free one.
        web_page: The folder of the built page; the application's own by default.
        web_origins: The origins of other pages that may call the web server with its cookie, separated by
            commas: ``https://example.com``.
        web_proxies: The addresses or networks of proxies whose ``X-Forwarded-For`` and
            ``X-Forwarded-Proto`` are believed, separated by commas.
        web_metrics_port: The port of the web server's Prometheus metrics, on the host of ``health_host``;
            without it they are not served.
        web_livekit_url: The address by which pages reach the LiveKit server; ``LIVEKIT_URL`` by default.
        staff_password_hash: The hash of the password of staff, as ``staff-password`` makes it; without
            it the web server serves no staff.
        stt: The speech-to-text provider: ``deepgram``, ``openai``, ``local`` (on this machine, for
            trying and testing) or ``none``; Deepgram by default if its key is set.
        stt_model: The speech-to-text model's name.
        stt_base_url: The speech-to-text server; the provider's own by default.
        stt_fallback: The fallback provider of speech-to-text.
        stt_fallback_model: The fallback model's name.
        tts: The text-to-speech provider: ``cartesia``, ``openai``, ``local`` (on this machine, for
            trying and testing) or ``none``; Cartesia by default if its key is set.
        tts_model: The text-to-speech model's name; of ``local`` the program, ``espeak-ng`` or
            ``flite``.
        tts_base_url: The text-to-speech server; the provider's own by default.
        tts_voice: The provider's voice; its default one if not set.
        tts_voices: Voices of single agents: ``payment=NAME, feedback=NAME``.
        tts_fallback: The fallback provider of text-to-speech.
        tts_fallback_model: The fallback model's name.
        tts_fallback_voice: The fallback's voice.
        turn_min_delay: How long after the end of speech a turn ends, in seconds. This and the following
            numbers are for every channel, or one for each: ``web=0.5, phone=0.6``.
        turn_max_delay: The same if the turn detector expects the user to continue, in seconds.
        turn_detector: Whether LiveKit's turn detector judges if the user has finished: ``on``, ``off``,
            or only on ``web`` or ``phone``. It runs on this machine and takes about 290 MB.
        interruption: How long the user must speak to interrupt an agent, in seconds.
        interruption_words: How many words they must say to interrupt it.
        resume_after: After how much silence an agent that was interrupted without words goes on, in
            seconds; 0 if it does not.
        vad_threshold: How sure voice activity detection must be that there is speech, from 0 to 1.
        vad_silence: How much silence ends speech, in seconds.
        noise_suppression: Whether noise is suppressed: ``on``, ``off``, ``web`` or ``phone``.
        tone_after: After how much silence a user whose answer is being worked on hears a quiet tone, in
            seconds; 0 if they hear none.
        transfer: How phone callers who ask for a person are put through: ``cold``, at once, or
            ``warm``, after the person was called and has taken the call.
        sip_outbound_trunk: The id of LiveKit's outbound trunk by which a warm transfer calls.
        language: The spoken language, as a code like ``en``.
        deepgram_api_key: Deepgram's key.
        cartesia_api_key: Cartesia's key.
        openai_api_key: The key of the language model's server.
    """

    model_config = SettingsConfigDict(
        env_file=".env",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
    )

    model: Annotated[str, AfterValidator(check_model)] = LOCAL
    at: Annotated[datetime | None, BeforeValidator(parse_time)] = None
    database: Annotated[str | None, AfterValidator(check_database)] = None
    transcript: bool = True
    transcript_days: Annotated[int, Field(ge=1, le=3650)] = 30
    record_calls: bool = False
    recordings: Path | None = None
    openai_base_url: str | None = Field(default=None, validation_alias="OPENAI_BASE_URL")
    openai_model: Annotated[str, Field(min_length=1)] = "gpt-4.1"
    openai_realtime_model: Annotated[str, Field(min_length=1)] = "gpt-realtime"
    openai_realtime_transcription: Annotated[str, Field(min_length=1)] = "gpt-4o-mini-transcribe"
    realtime_audio: Annotated[bool, AfterValidator(check_realtime_audio)] = False
    openai_fallback_base_url: Address | None = None
    openai_fallback_model: Annotated[str | None, Field(min_length=1)] = None
    openai_fallback_api_key: Key | None = None
    openai_local_last: bool = False
    openai_patience: Annotated[float, Field(ge=1, le=300, allow_inf_nan=False)] = 6.0
    livekit_url: str | None = Field(default=None, validation_alias="LIVEKIT_URL")
    livekit_api_key: str | None = Field(default=None, validation_alias="LIVEKIT_API_KEY")
    livekit_api_secret: SecretStr | None = Field(
        default=None, validation_alias="LIVEKIT_API_SECRET"
    )
    agent_name: AgentName = "agent"
    grace: Annotated[float, Field(ge=1, le=3600, allow_inf_nan=False)] = 60.0
    calls: Annotated[int, Field(ge=1, le=1000)] = 20
    idle: Annotated[int, Field(ge=0, le=100)] = 2
    drain: Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)] = 3600.0
    health_host: Annotated[str, Field(min_length=1, max_length=255)] = "127.0.0.1"
    health_port: Annotated[int, Field(ge=0, le=65_535)] = 8081
    metrics_port: Annotated[int | None, Field(ge=1, le=65_535)] = None
    web_host: Annotated[str, Field(min_length=1, max_length=255)] = "127.0.0.1"
    web_port: Annotated[int, Field(ge=0, le=65_535)] = 8000
    web_page: Path | None = None
    web_origins: Annotated[str, AfterValidator(check_origins)] = ""
    web_proxies: Annotated[str, AfterValidator(check_networks)] = ""
    web_metrics_port: Annotated[int | None, Field(ge=1, le=65_535)] = None
    web_livekit_url: Annotated[str | None, AfterValidator(check_public_url)] = None
    staff_password_hash: Key | None = None
    stt: Literal["deepgram", "openai", "local", "none"] | None = None
    stt_model: Name | None = None
    stt_base_url: Address | None = None
    stt_fallback: Literal["deepgram", "openai"] | None = None
    stt_fallback_model: Name | None = None
    tts: Literal["cartesia", "openai", "local", "none"] | None = None
    tts_model: Name | None = None
    tts_base_url: Address | None = None
    tts_voice: Name | None = None
    tts_voices: Annotated[str, AfterValidator(check_voices)] = ""
    tts_fallback: Literal["cartesia", "openai"] | None = None
    tts_fallback_model: Name | None = None
    tts_fallback_voice: Name | None = None
    turn_min_delay: Annotated[str, number_by_channel(0, 10)] = "web=0.5, phone=0.6"
    turn_max_delay: Annotated[str, number_by_channel(0, 30)] = "3"
    turn_detector: OnChannels = "off"
    interruption: Annotated[str, number_by_channel(0, 10)] = "web=0.5, phone=0.6"
    interruption_words: Annotated[str, number_by_channel(0, 20, whole=True)] = "0"
    resume_after: Annotated[str, number_by_channel(0, 30)] = "2"
    vad_threshold: Annotated[str, number_by_channel(0.05, 0.95)] = "0.5"
    vad_silence: Annotated[str, number_by_channel(0.05, 5)] = "0.55"
    noise_suppression: OnChannels = "off"
    tone_after: Annotated[str, number_by_channel(0, 60)] = "2.5"
    transfer: Literal["cold", "warm"] = "cold"
    sip_outbound_trunk: Annotated[str | None, Field(pattern=r"^\S+$")] = Field(
        default=None, validation_alias="LIVEKIT_SIP_OUTBOUND_TRUNK", validate_default=True
    )
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$")] = "en"
    deepgram_api_key: SecretStr | None = Field(default=None, validation_alias="DEEPGRAM_API_KEY")
    cartesia_api_key: SecretStr | None = Field(default=None, validation_alias="CARTESIA_API_KEY")
    # The last field, so that those it depends on have been validated.
    openai_api_key: SecretStr | None = Field(
        default=None, validation_alias="OPENAI_API_KEY", validate_default=True
    )

    # Other programs use these variables too, so they are checked only for a model that needs them.

    @field_validator("openai_base_url")
    @classmethod
    def _check_base_url(cls, url: str | None, info: ValidationInfo) -> str | None:
        return (
            url
            if url is None or info.data.get("model") not in OPENAI_MODELS
            else check_address(url)
        )

    @field_validator("openai_api_key")
    @classmethod
    def _check_openai_key(cls, key: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        if info.data.get("model") not in OPENAI_MODELS:
            return key
        if key is not None:
            return check_key(key)
        if "openai_base_url" in info.data and needs_key(info.data["openai_base_url"]):
            raise ValueError(KEY_MISSING)
        return None

    @field_validator("sip_outbound_trunk")
    @classmethod
    def _check_outbound_trunk(cls, trunk: str | None, info: ValidationInfo) -> str | None:
        if trunk is None and info.data.get("transfer") == "warm":
            raise ValueError(
                f"is not set, and {cls.variable('transfer')}=warm needs it: the id of an outbound"
                " trunk, ST_..."
            )
        return trunk

    @property
    def secrets(self) -> tuple[str, ...]:
        """All keys and secrets, to be redacted everywhere."""
        keys = (
            self.openai_api_key,
            self.openai_fallback_api_key,
            self.livekit_api_secret,
            self.deepgram_api_key,
            self.cartesia_api_key,
            self.staff_password_hash,
        )
        texts = (key.get_secret_value().strip() for key in keys if key is not None)
        return tuple(text for text in texts if len(text) >= _SHORTEST_SECRET)

    @property
    def livekit_keys(self) -> tuple[str, str]:
        """The API key and the API secret; empty texts where they are not set."""
        secret = self.livekit_api_secret
        return self.livekit_api_key or "", secret.get_secret_value() if secret is not None else ""

    @classmethod
    def variable(cls, field: str) -> str:
        """Return the environment variable that holds a setting: ``BELLA_VISTA_MODEL``, ``OPENAI_API_KEY``."""
        alias = cls.model_fields[field].validation_alias
        return alias if isinstance(alias, str) else cls._prefix() + field.upper()

    @classmethod
    def read(cls, **options: object) -> Self:
        """Read options, environment and ``.env``.

        Args:
            options: Command-line options by name; ``None`` means not given.

        Raises:
            SettingsFaults: All faults, each with the setting to change.
        """
        given: dict[str, Any] = {
            name: value for name, value in options.items() if value is not None
        }
        try:
            return cls(**given)
        except ValidationError as error:
            raise SettingsFaults(cls._readable(fault, given) for fault in error.errors()) from None
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise SettingsFaults([f".env: cannot be read: {why}"]) from None

    @classmethod
    def read_for_rooms(cls, **options: object) -> Self:
        """Read the settings, with a LiveKit server, its key and its secret required.

        Args:
            options: Command-line options by name; ``None`` means not given.

        Returns:
            Settings with a usable address, key and secret.

        Raises:
            SettingsFaults: All faults, each with the setting to change.
        """
        return cast("Self", _for_rooms(cls).read(**options))

    @classmethod
    def usable(cls, **options: object) -> tuple[Self, frozenset[str]] | None:
        """Read the valid settings, so that checks that depend on them can still run.

        Args:
            options: Command-line options by name; ``None`` means not given.

        Returns:
            The settings, with the default in place of each invalid one, and the names of those;
            ``None`` if nothing can be read. If the model's key is missing the model itself is kept.
        """
        given: dict[str, Any] = {
            name: value for name, value in options.items() if value is not None
        }
        fields = cls.model_fields
        by_name = {location: field for field in fields for location in (field, cls.variable(field))}
        kept: dict[str, None] = {}
        wrong: set[str] = set()
        for _ in fields:  # each round finds at least one more invalid setting
            try:
                settings = cls(**given)
            except ValidationError as error:
                for fault in error.errors():
                    location = str(fault["loc"][0])
                    field = by_name[location]
                    wrong.add(field)
                    given[location] = fields[field].default
                    if field == "openai_api_key":  # the model that needs it is kept
                        kept, given[location] = {field: None}, "missing"
            except (OSError, UnicodeError):
                return None
            else:
                return settings.model_copy(update=kept), frozenset(wrong)
        return None

    @classmethod
    def unknown(cls) -> tuple[str, ...]:
        """Report variables in the environment and in ``.env`` with the prefix that are no settings."""
        known = {cls.variable(name) for name in cls.model_fields}
        prefix = cls._prefix()
        found = [
            name
            for name in sorted({*_dotenv(), *os.environ})
            if prefix and name.upper().startswith(prefix) and name.upper() not in known
        ]
        if not found:
            return ()
        from state.documents.faults import did_you_mean

        return tuple(f"there is no setting {name}{did_you_mean(name, known)}" for name in found)

    @classmethod
    def _prefix(cls) -> str:
        return cls.model_config.get("env_prefix", "")

    @classmethod
    def _readable(cls, fault: Any, given: dict[str, Any]) -> str:
        name = str(fault["loc"][0])
        if name in given:
            where = flag(name)
        else:
            where = cls.variable(name) if name in cls.model_fields else name
        if fault["type"] in ("bool_type", "bool_parsing"):  # .env.example says on and off
            return f"{where}: has to be on or off"
        from state.shared import explained  # only a faulty setting needs it

        return f"{where}: {explained(fault)}"


_Form = TypeVar("_Form", bound=AppSettings)


@cache
def _for_rooms(form: type[_Form]) -> type[_Form]:
    """Derive the class whose settings of a LiveKit server are required and checked."""

    class ForRooms(form):  # type: ignore[valid-type, misc]
        """Settings with a LiveKit server: its address, key and secret are required."""

        # Other programs use LIVEKIT_* as well, so only this class validates them.

        livekit_url: str | None = Field(
            default=None, validation_alias="LIVEKIT_URL", validate_default=True
        )
        livekit_api_key: str | None = Field(
            default=None, validation_alias="LIVEKIT_API_KEY", validate_default=True
        )
        livekit_api_secret: SecretStr | None = Field(
            default=None, validation_alias="LIVEKIT_API_SECRET", validate_default=True
        )

        @field_validator("livekit_url")
        @classmethod
        def _check_livekit_url(cls, url: str | None) -> str:
            if url is None:
                raise ValueError("is not set: put the address of a LiveKit server there")
            return check_livekit_url(url)

        @field_validator("livekit_api_key")
        @classmethod
        def _check_livekit_key(cls, key: str | None, info: ValidationInfo) -> str:
            if key is None:
                raise ValueError("is not set: put the LiveKit server's API key there")
            key = check_key(SecretStr(key)).get_secret_value()
            if _is_remote(info):
                from agents.app.livekit_server import API_KEY

                if key in (_DEVKEY, API_KEY):
                    raise ValueError(
                        "is the public key of a development server: use a key of your own"
                    )
            return key

        @field_validator("livekit_api_secret")
        @classmethod
        def _check_livekit_secret(cls, secret: SecretStr | None, info: ValidationInfo) -> SecretStr:
            if secret is None:
                raise ValueError("is not set: put the LiveKit server's API secret there")
            secret = check_key(secret)
            if not _is_remote(info):
                return secret
            from agents.app.livekit_server import API_SECRET

            if secret.get_secret_value() == API_SECRET:
                raise ValueError(
                    "is the public secret of a development server: use one of your own"
                )
            if len(secret.get_secret_value()) < KEY_BYTES:
                raise ValueError(
                    f"is too short: a server that others can reach needs {KEY_BYTES} characters"
                )
            return secret

        @field_validator("metrics_port")
        @classmethod
        def _check_metrics_port(cls, port: int | None, info: ValidationInfo) -> int | None:
            if port is not None and port == info.data.get("health_port"):
                raise ValueError(
                    f"is the same port as {form.variable('health_port')}: each needs its own"
                )
            return port

    ForRooms.__name__ = ForRooms.__qualname__ = f"{form.__name__}ForRooms"
    return cast("type[_Form]", ForRooms)


def has_livekit_settings() -> bool:
    """Whether any setting of a LiveKit server is in the environment or in ``.env``."""
    return any(os.environ.get(name) or _dotenv().get(name) for name in _LIVEKIT)


def _dotenv() -> Mapping[str, str | None]:
    with suppress(OSError, UnicodeError):  # reading the settings reports it
        return dotenv_values(".env")
    return {}


def _is_remote(info: ValidationInfo) -> bool:
    """Whether the server is on another machine; an invalid address is a fault of its own."""
    url = info.data.get("livekit_url")
    return url is not None and not is_local_address(url)


def settings_of(name: str) -> type[AppSettings]:
    """Derive the settings of an application that has none of its own.

    Args:
        name: The application's name: the agent name, and in capitals the prefix of the variables.

    >>> settings_of("front-desk").variable("database")
    'FRONT_DESK_DATABASE'
    """

    class Settings(AppSettings):
        model_config = SettingsConfigDict(env_prefix=f"{name.replace('-', '_').upper()}_")

        agent_name: AgentName = name

    return Settings
