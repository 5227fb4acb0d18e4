import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { flushSync } from "react-dom";

/** True once a condition has held for some time (milliseconds). */
export function useDelayed(condition: boolean, delay: number): boolean {
  const [held, setHeld] = useState(false);
  useEffect(() => {
    if (!condition) {
      setHeld(false);
      return;
    }
    const timer = setTimeout(() => setHeld(true), delay);
    return () => clearTimeout(timer);
  }, [condition, delay]);
  return condition && held;
}

/** True for some time (milliseconds) after a value has changed; not for its first value. */
export function useChangedLately(value: string, time: number, fresh = false): boolean {
  const [lately, setLately] = useState(fresh);
  const last = useRef(fresh ? null : value);
  useEffect(() => {
    if (last.current === value) return;
    last.current = value;
    setLately(true);
    const timer = setTimeout(() => setLately(false), time);
    return () => clearTimeout(timer);
  }, [value, time]);
  return lately;
}

/**
 * Keeps an action from running twice at once, such as by a second press before the agent has answered.
 *
 * @returns Whether it is under way, and a function that runs an action unless one is.
 */
export function useOneAtATime(): [boolean, (action: () => Promise<unknown>) => Promise<void>] {
  const [busy, setBusy] = useState(false);
  const underWay = useRef(false);
  const run = useCallback(async (action: () => Promise<unknown>) => {
    if (underWay.current) return;
    underWay.current = true;
    setBusy(true);
    try {
      await action();
    } finally {
      underWay.current = false;
      setBusy(false);
    }
  }, []);
  return [busy, run];
}

/** Whether a media query holds. */
export function useMedia(query: string): boolean {
  const media = useMemo(() => matchMedia(query), [query]);
  const follow = useCallback(
    (listener: () => void) => {
      media.addEventListener("change", listener);
      return () => media.removeEventListener("change", listener);
    },
    [media],
  );
  return useSyncExternalStore(follow, () => media.matches);
}

/** Where the guest is, from the address: back and forward work. */
export type Place =
  | { at: "talk" }
  | { at: "menu" }
  | { at: "dish"; name: string }
  | { at: "line"; id: string };

/** The present place. The address `#order` and other anchors leave it as it is. */
export function usePlace(): Place {
  const [place, setPlace] = useState(() => placeOf(location.hash) ?? { at: "talk" as const });
  useEffect(() => {
    const follow = () => {
      const next = placeOf(location.hash);
      if (next) setPlace(next);
    };
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return place;
}

/** Goes to another place, which is drawn when this returns: what is there can be given the focus. */
export function goTo(place: Place): void {
  history.pushState(null, "", addressOf(place));
  flushSync(() => dispatchEvent(new HashChangeEvent("hashchange")));
}

export function addressOf(place: Place): string {
  if (place.at === "dish") return `#menu/${encodeURIComponent(place.name)}`;
  if (place.at === "line") return `#line/${encodeURIComponent(place.id)}`;
  return `#${place.at}`;
}

function placeOf(hash: string): Place | null {
  const [at, ...rest] = hash.slice(1).split("/");
  let more: string;
  try {
    more = decodeURIComponent(rest.join("/"));
  } catch {
    return null;
  }
  if (at === "talk" || at === "") return { at: "talk" };
  if (at === "menu") return more ? { at: "dish", name: more } : { at: "menu" };
  if (at === "line" && more) return { at: "line", id: more };
  return null;
}

/** Gives the focus back to what has opened a form, once the form is closed. */
export function useFocusBack<E extends HTMLElement>(open: boolean) {
  const opener = useRef<E>(null);
  const wasOpen = useRef(open);
  useLayoutEffect(() => {
    if (wasOpen.current && !open) opener.current?.focus();
    wasOpen.current = open;
  }, [open]);
  return opener;
}

/** Tells the style sheet how high a part at the bottom of the screen is, so that nothing stays hidden below it. */
export function useReservedHeight<E extends HTMLElement>(property: `--${string}`) {
  const part = useRef<E>(null);
  useEffect(() => {
    const element = part.current;
    if (!element) return;
    const { style } = document.documentElement;
    const watch = new ResizeObserver(() => {
      style.setProperty(property, `${element.offsetHeight}px`);
    });
    watch.observe(element);
    return () => {
      watch.disconnect();
      style.removeProperty(property);
    };
  }, [property]);
  return part;
}
