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

/** The weekday and the wall clock of an ISO 8601 time, as `clock` has it. */
export function dayAndClock(iso: string, language: string): string {
  const at = wallTime(iso);
  if (!at) return iso;
  const day = at.toLocaleDateString(language, { weekday: "long", timeZone: "UTC" });
  return `${day}, ${clock(iso, language)}`;
}

/** The wall clock of an ISO 8601 time, as if it were in UTC. */
function wallTime(iso: string): Date | null {
  const wall = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)/.exec(iso);
  if (!wall) return null;
  const [, year, month, day, hour, minute] = wall.map(Number) as [number, ...number[]];
  return new Date(Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute));
}

/** Today as `2026-11-24`, in the browser's time: the guest's day is the restaurant's, unlike that of UTC. */
export function today(now = new Date()): string {
  const two = (number: number) => String(number).padStart(2, "0");
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
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
