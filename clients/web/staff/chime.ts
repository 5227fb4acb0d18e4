/** A sound for what has come to the board, once staff have turned it on: a browser plays none before a press. */

import { useEffect, useRef, useState } from "react";

/** The tones of the sound, in hertz, one after the other. */
const TONES = [880, 1175];
const TONE_S = 0.22;

function ring(context: AudioContext): void {
  for (const [place, frequency] of TONES.entries()) {
    const begin = context.currentTime + place * TONE_S;
    const tone = new OscillatorNode(context, { frequency });
    const volume = new GainNode(context, { gain: 0.4 });
    volume.gain.setValueAtTime(0.4, begin);
    volume.gain.exponentialRampToValueAtTime(0.001, begin + 2 * TONE_S);
    tone.connect(volume).connect(context.destination);
    tone.start(begin);
    tone.stop(begin + 2 * TONE_S);
  }
}

/**
 * Rings once for all that comes at once.
 *
 * @param keys - What is there, each by a key of its own; null as long as it is not known.
 */
export function useChime(keys: readonly string[] | null) {
  const [context, setContext] = useState<AudioContext | null>(null);
  const known = useRef<Set<string> | null>(null);
  useEffect(() => {
    if (keys === null) return;
    const before = known.current;
    known.current = new Set(keys);
    if (before && context && keys.some((key) => !before.has(key))) ring(context);
  }, [keys, context]);
  useEffect(() => () => void context?.close(), [context]);
  const toggle = () => {
    if (context) return setContext(null);
    const made = new AudioContext();
    ring(made); // staff hear what it is like
    setContext(made);
  };
  return { on: context !== null, toggle };
}
