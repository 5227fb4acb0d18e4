/** The microphone: off until it is turned on; held to talk, or open. */

import { useMediaDeviceSelect, useStartAudio } from "@livekit/components-react";
import { usePushToTalk } from "@typed-handoffs/react";
import { type LocalAudioTrack, type Room, RoomEvent, TrackEvent } from "livekit-client";
import {
  type KeyboardEvent,
  type PointerEvent,
  useCallback,
  useEffect,
  useId,
  useRef,
  useState,
} from "react";
import { useNow, usePage } from "./model/page";
import { Icon } from "./parts/icons";
import { useTexts } from "./texts";

/** A press shorter than this (milliseconds) means: listen until the next press. */
const TAP_MS = 300;

type Mode = "push_to_talk" | "open";

/** How the microphone works in this tab: a reload leaves it so. */
const KEPT = "bella-vista.microphone";

function keptMode(): Mode {
  try {
    return sessionStorage.getItem(KEPT) === "open" ? "open" : "push_to_talk";
  } catch {
    return "push_to_talk";
  }
}

function keepMode(mode: Mode): void {
  try {
    sessionStorage.setItem(KEPT, mode);
  } catch {
    // Only a reload is affected.
  }
}

export interface MicrophoneState {
  mode: Mode;
  talking: boolean;
  muted: boolean;
  /** It was pulled out, or can no longer be opened, and no other one is there. */
  gone: boolean;
  /** Opens the microphone that is there now. */
  reopen: () => void;
  setMode: (mode: Mode) => void;
  setMuted: (muted: boolean) => void;
  startTalking: () => void;
  stopTalking: () => void;
}

/**
 * The guest's microphone in a room; between turns it is muted, unless it is open.
 *
 * @param track - The microphone, while an agent that hears is there; null: it is not used.
 */
export function useMicrophone(room: Room, track: LocalAudioTrack | null): MicrophoneState {
  const { session } = usePage();
  const { hello } = useNow();
  const [mode, chooseMode] = useState(keptMode);
  const { talking, start, end, cancel } = usePushToTalk();
  const [ending, setEnding] = useState(0);
  const [muted, setMuted] = useState(false);
  // The last words of a turn are on their way until its end is answered.
  const { gone, setGone, reopen } = useOpenedAgain(room, track);
  const on = !gone && (mode === "open" ? !muted : talking || ending > 0);
  const heard = track !== null;

  useEffect(() => {
    if (!heard) return;
    room.localParticipant.setMicrophoneEnabled(on).catch(() => {
      if (on) setGone(true);
    });
  }, [heard, on, room, setGone]);
  useEffect(() => {
    if (gone) void cancel().catch(() => {}); // nothing more of the turn is heard
  }, [gone, cancel]);
  // Told again to an agent that takes over.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each agent says its own hello
  useEffect(() => {
    if (heard) void session.setMicrophone(mode).catch(() => {});
  }, [heard, hello, mode, session]);

  const startTalking = useCallback(() => void start().catch(() => {}), [start]);
  const stopTalking = useCallback(() => {
    setEnding((count) => count + 1);
    void end()
      .catch(() => {})
      .finally(() => setEnding((count) => count - 1));
  }, [end]);
  const setMode = useCallback(
    (next: Mode) => {
      stopTalking();
      setMuted(false);
      chooseMode(next);
      keepMode(next);
    },
    [stopTalking],
  );
  return { mode, talking, muted, gone, reopen, setMode, setMuted, startTalking, stopTalking };
}

/** Opens another microphone in place of one that is pulled out; tells whether none is left. */
function useOpenedAgain(room: Room, track: LocalAudioTrack | null) {
  const [gone, setGone] = useState(false);
  const reopen = useCallback(() => {
    const ideal = room.getActiveDevice("audioinput") ?? "default";
    track
      ?.restartTrack({ ...room.options.audioCaptureDefaults, deviceId: { ideal } })
      .then(() => setGone(false))
      .catch(() => setGone(true));
  }, [room, track]);
  useEffect(() => {
    if (!track) return;
    // LiveKit opens another one for a track that is on, and mutes the track if there is none.
    const ended = () => {
      if (track.isMuted) reopen();
    };
    const muted = () => {
      if (track.mediaStreamTrack.readyState === "ended") setGone(true);
    };
    track.on(TrackEvent.Ended, ended).on(TrackEvent.Muted, muted);
    return () => {
      track.off(TrackEvent.Ended, ended).off(TrackEvent.Muted, muted);
    };
  }, [track, reopen]);
  useEffect(() => {
    if (!gone) return;
    // One was plugged in, or chosen.
    room.on(RoomEvent.MediaDevicesChanged, reopen).on(RoomEvent.ActiveDeviceChanged, reopen);
    return () => {
      room.off(RoomEvent.MediaDevicesChanged, reopen).off(RoomEvent.ActiveDeviceChanged, reopen);
    };
  }, [room, gone, reopen]);
  return { gone, setGone, reopen };
}

/** Stands in the microphone's place when it is gone. */
export function MicrophoneGone({ onAgain }: { onAgain: () => void }) {
  const texts = useTexts();
  return (
    <div className="microphone gone">
      <p role="alert">{texts.dock.gone}</p>
      <button type="button" className="button" onClick={onAgain}>
        {texts.trouble.again}
      </button>
    </div>
  );
}

/** The dock's controls of the microphone. */
export function Microphone({ microphone }: { microphone: MicrophoneState }) {
  const words = useTexts().dock;
  const held = useNow().status !== "ready";
  const { mode, muted } = microphone;
  const id = useId();
  const sound = useStartAudio({ props: {} });
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for form fields
    <div className="microphone" role="group" aria-label={words.microphone}>
      {!sound.canPlayAudio && (
        <button type="button" className="button sound" onClick={sound.mergedProps.onClick}>
          <Icon name="speaker" />
          <span className="word">{words.soundOn}</span>
        </button>
      )}
      {mode === "push_to_talk" ? (
        <HoldToTalk microphone={microphone} disabled={held} />
      ) : (
        <button
          type="button"
          className="button"
          aria-pressed={muted}
          onClick={() => microphone.setMuted(!muted)}
        >
          <Icon name={muted ? "muted" : "microphone"} />
          <span className="word">{words.mute}</span>
        </button>
      )}
      <fieldset className="choice-row">
        <legend className="unseen">{words.mode}</legend>
        {(["push_to_talk", "open"] as const).map((each) => (
          <label key={each}>
            <input
              type="radio"
              name={id}
              checked={mode === each}
              onChange={() => microphone.setMode(each)}
            />
            {each === "open" ? words.modeOpen : words.modeHold}
          </label>
        ))}
      </fieldset>
    </div>
  );
}

/** Hold to talk; a short press, or a key, begins and the next one ends. */
function HoldToTalk({ microphone, disabled }: { microphone: MicrophoneState; disabled: boolean }) {
  const words = useTexts().dock;
  const { talking, startTalking, stopTalking } = microphone;
  const since = useRef<number | null>(null);
  // A call that ends or breaks off while the button is held ends the turn as well.
  useEffect(() => {
    if (disabled && talking) stopTalking();
  }, [disabled, talking, stopTalking]);
  const down = (event: PointerEvent) => {
    if (event.button !== 0 || disabled) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    if (talking) {
      stopTalking();
      return;
    }
    since.current = event.timeStamp;
    startTalking();
  };
  const up = (event: PointerEvent) => {
    const began = since.current;
    since.current = null;
    if (began !== null && event.timeStamp - began > TAP_MS) stopTalking();
  };
  const key = (event: KeyboardEvent) => {
    if (event.repeat || disabled || (event.key !== " " && event.key !== "Enter")) return;
    event.preventDefault();
    if (talking) stopTalking();
    else startTalking();
  };
  return (
    <button
      type="button"
      className="button speak"
      aria-pressed={talking}
      aria-disabled={disabled}
      onPointerDown={down}
      onPointerUp={up}
      onPointerCancel={up}
      onKeyDown={key}
    >
      <Icon name="microphone" />
      {talking ? words.talkEnd : words.hold}
    </button>
  );
}

/** Which microphone and loudspeaker. */
export function Devices({ room }: { room: Room }) {
  const words = useTexts().sound;
  return (
    <>
      <Device room={room} kind="audioinput" label={words.microphone} />
      <Device room={room} kind="audiooutput" label={words.speaker} />
    </>
  );
}

function Device({ room, kind, label }: { room: Room; kind: MediaDeviceKind; label: string }) {
  const texts = useTexts();
  const id = useId();
  const { devices, activeDeviceId, setActiveMediaDevice } = useMediaDeviceSelect({ kind, room });
  // Before permission a browser names none.
  const named = devices.filter((device) => device.label !== "");
  if (named.length === 0) return null;
  return (
    <div>
      <label className="label" htmlFor={id}>
        {label}
      </label>
      <select
        id={id}
        className="field"
        value={activeDeviceId}
        onChange={(event) => void setActiveMediaDevice(event.target.value)}
      >
        {!named.some((device) => device.deviceId === activeDeviceId) && (
          <option value={activeDeviceId}>{texts.sound.standard}</option>
        )}
        {named.map((device) => (
          <option key={device.deviceId} value={device.deviceId}>
            {device.label}
          </option>
        ))}
      </select>
    </div>
  );
}
