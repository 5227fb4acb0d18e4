/** Small pieces of text made from data: names, times, money. */

/** A word with a capital letter at its start. */
export function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** The name of an agent the page has no word for: `wine_waiter` is "Wine waiter". */
export function humanised(name: string): string {
  return capital(name.replaceAll("_", " "));
}

/** Allergens by the page's names for them, as one text; a word without a name there stays as it is. */
export function allergenText(
  allergens: readonly string[],
  names: Readonly<Record<string, string>>,
): string {
  return allergens.map((word) => names[word.toLowerCase()] ?? word).join(", ");
}

/**
 * The wall clock of an ISO 8601 time as it stands, in the restaurant's own zone.
 *
 * The browser may be anywhere; the restaurant's time is the one that counts.
 */
export function clock(iso: string, language: string): string {
  const at = wallTime(iso);
  if (!at) return iso;
  const english = language === "en";
  const text = at.toLocaleTimeString(english ? "en-US" : language, {
    hour: "numeric",
    minute: "2-digit",
    timeZone: "UTC",
  });
  return english ? text.toLowerCase() : text;
}

/** Hours of a menu, `17:30-01:00`, as `clock` has its times. */
export function hoursText(hours: string, language: string): string {
  const [from = "", to = ""] = hours.split("-");
  if (!/^\d\d:\d\d-\d\d:\d\d$/.test(hours)) return hours;
  return [from, to].map((time) => clock(`2000-01-01T${time}`, language)).join("–");
}

/** The weekday and the wall clock of an ISO 8601 time, as `clock` has it. */
export function dayAndClock(iso: string, language: string): string {
  const at = wallTime(iso);
  if (!at) return iso;
  return `${dated(at, language, false)}, ${clock(iso, language)}`;
}

/**
 * The day of an ISO 8601 time as a guest needs it: nothing for the present day, the weekday within the next six days,
 * else the weekday with its date.
 *
 * @param present - The time that it is, also in the restaurant's zone: `presentOf`, `presentAt`.
 */
export function dayText(iso: string, present: string, language: string): string {
  const days = daysBetween(present, iso);
  const at = wallTime(iso);
  if (!at || days === 0) return "";
  const near = days > 0 && days < 7;
  return dated(at, language, !near);
}

/** A moment in the zone of an ISO 8601 time. */
export function presentAt(iso: string, now = Date.now()): string {
  const offset = /(?:Z|[+-]\d\d:\d\d)$/.exec(iso)?.[0] ?? "Z";
  const sign = offset.startsWith("-") ? -1 : 1;
  const [hours = 0, minutes = 0] = offset === "Z" ? [] : offset.slice(1).split(":").map(Number);
  const away = sign * (hours * 60 + minutes) * 60_000;
  return new Date(now + away).toISOString().slice(0, 19) + offset;
}

/** A date with its weekday, of an ISO 8601 time or day. */
export function dateText(iso: string, language: string): string {
  const at = wallTime(iso.length > 10 ? iso : `${iso}T00:00`);
  return at ? dated(at, language) : iso;
}

function dated(at: Date, language: string, withDate = true): string {
  return at.toLocaleDateString(language === "en" ? "en-US" : language, {
    weekday: "long",
    ...(withDate ? { day: "numeric", month: "long" } : {}),
    timeZone: "UTC",
  });
}

/** How many days later the second of two ISO 8601 times is, by their own calendars. */
export function daysBetween(first: string, second: string): number {
  const day = (iso: string) => Date.parse(`${iso.slice(0, 10)}T00:00:00Z`);
  return Math.round((day(second) - day(first)) / 86_400_000);
}

/** The wall clock of an ISO 8601 time, as if it were in UTC. */
function wallTime(iso: string): Date | null {
  const wall = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)/.exec(iso);
  if (!wall) return null;
  const [, year, month, day, hour, minute] = wall.map(Number) as [number, ...number[]];
  return new Date(Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute));
}

/** The present time in the browser's zone, which is the restaurant's as a rule. */
export function presentHere(now = new Date()): string {
  const away = -now.getTimezoneOffset();
  const two = (number: number) => String(Math.floor(Math.abs(number))).padStart(2, "0");
  return presentAt(`${away < 0 ? "-" : "+"}${two(away / 60)}:${two(away % 60)}`, now.getTime());
}

/** An amount of minor units as text, in the form the server uses for the order. */
export function money(minor: number, currency: string): string {
  const format = new Intl.NumberFormat("en-US", { style: "currency", currency });
  const digits = format.resolvedOptions().maximumFractionDigits ?? 2;
  return format.format(minor / 10 ** digits);
}

/** Half of an amount, a half cent rounded up. */
export function halfOf(minor: number): number {
  return Math.floor((minor + 1) / 2);
}
