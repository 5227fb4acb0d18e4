/** Tells what happened to the order between two of its versions. */

import type { Order, OrderItem } from "@bella-vista/client";
import type { Texts } from "../texts";
import { allergenText, capital } from "./words";

/** One thing that happened, in no language; `off` when it left the ticket. */
export interface Happened {
  what:
    | "item"
    | "allergy"
    | "way"
    | "name"
    | "coupon"
    | "note"
    | "tip"
    | "payment"
    | "placed"
    | "cancelled"
    | "stars";
  off?: boolean;
  /** The dish, code, method or amount. */
  word?: string;
  count?: number;
  details?: string;
}

/** A line's size, modifications and parts, as they stand below its name; parts that are the same stand once. */
export function details(item: Pick<OrderItem, "size" | "modifications" | "parts">): string {
  const counts = new Map<string, number>();
  for (const part of item.parts) {
    const one = [...sized(part.size), part.name, ...part.modifications].join(" ");
    counts.set(one, (counts.get(one) ?? 0) + 1);
  }
  const parts = [...counts].map(([one, count]) => (count > 1 ? `${count} × ${one}` : one));
  return capital([...sized(item.size), ...item.modifications, ...parts].join(", "));
}

function sized(size: string | null): string[] {
  return size && size !== "regular" ? [size] : [];
}

/** The changes that a guest sees from one version to another, in the ticket's order. */
export function happened(before: Order, after: Order): Happened[] {
  const told: Happened[] = [];
  const old = new Map(before.order_items.map((item) => [item.id, item]));
  for (const item of after.order_items) {
    const was = old.get(item.id);
    old.delete(item.id);
    if (was && sameLine(was, item)) continue;
    told.push({ what: "item", word: item.name, count: item.quantity, details: details(item) });
  }
  for (const gone of old.values()) {
    told.push({ what: "item", off: true, word: gone.name, count: gone.quantity });
  }
  for (const word of added(before.allergies, after.allergies)) told.push({ what: "allergy", word });
  for (const word of added(after.allergies, before.allergies)) {
    told.push({ what: "allergy", off: true, word });
  }
  const way = after.fulfilment?.kind;
  if (way && way !== before.fulfilment?.kind) told.push({ what: "way", word: way });
  if (after.customer_name && after.customer_name !== before.customer_name) {
    told.push({ what: "name", word: after.customer_name });
  }
  for (const word of added(before.coupons, after.coupons)) told.push({ what: "coupon", word });
  for (const word of added(after.coupons, before.coupons)) {
    told.push({ what: "coupon", off: true, word });
  }
  const notes = new Map(before.notes.map((note) => [note.id, note.content]));
  for (const note of after.notes) {
    if (!notes.delete(note.id)) told.push({ what: "note", word: note.content });
  }
  for (const word of notes.values()) told.push({ what: "note", off: true, word });
  // A tip in percent moves with the order; only the guest's choice is news.
  const chosen =
    after.tip_percentage !== before.tip_percentage ||
    (after.tip_percentage === null && after.tip !== before.tip);
  if (chosen) told.push(after.tip > 0 ? { what: "tip", word: after.display.tip } : { what: "tip" });
  if (after.payment_method && after.payment_method !== before.payment_method) {
    told.push({ what: "payment", word: after.payment_method });
  }
  if (after.stage !== before.stage) {
    if (after.stage === "placed") told.push({ what: "placed", word: after.order_number });
    else if (after.stage === "cancelled") told.push({ what: "cancelled" });
  }
  if (after.feedback_rating !== null && after.feedback_rating !== before.feedback_rating) {
    told.push({ what: "stars", count: after.feedback_rating });
  }
  return told;
}

/** A change in words: the text before the strong word, the strong word, the text after it. */
export function inWords(one: Happened, texts: Texts): readonly [string, string, string] {
  const words = texts.changed;
  const word = one.word ?? "";
  switch (one.what) {
    case "item": {
      const rest = one.details ?? "";
      const after = rest && `, ${rest.charAt(0).toLowerCase()}${rest.slice(1)}`;
      return ["", `${one.count} × ${word}`, after];
    }
    case "allergy":
      return [words.allergy, allergenText([word], texts.card.allergens), ""];
    case "way":
      return ["", word === "delivery" ? words.delivery : words.pickup, ""];
    case "name":
      return [words.name, word, ""];
    case "coupon":
      return [words.coupon, word, ""];
    case "note":
      return [words.note, word, ""];
    case "tip":
      return word ? [words.tip, word, ""] : ["", words.noTip, ""];
    case "payment":
      return ["", word === "cash" ? words.cash : words.card, ""];
    case "placed":
      return [words.placed, word, ""];
    case "cancelled":
      return ["", words.cancelled, ""];
    case "stars":
      return ["", words.stars(one.count ?? 0), ""];
  }
}

/** The changes as one sentence for a screen reader, with the new total. */
export function announced(told: readonly Happened[], order: Order, texts: Texts): string {
  const plain = (one: Happened) => inWords(one, texts).join("");
  const on = told.filter((one) => !one.off).map(plain);
  const off = told.filter((one) => one.off).map(plain);
  const parts = [];
  if (on.length > 0) parts.push(`${texts.script.onTicket} ${on.join("; ")}.`);
  if (off.length > 0) parts.push(`${texts.script.offTicket} ${off.join("; ")}.`);
  if (parts.length > 0) parts.push(texts.changed.total(order.display.total));
  return parts.join(" ");
}

function added(before: readonly string[], after: readonly string[]): string[] {
  return after.filter((one) => !before.includes(one));
}

function sameLine(one: OrderItem, other: OrderItem): boolean {
  return (
    one.quantity === other.quantity &&
    one.name === other.name &&
    one.size === other.size &&
    one.modifications.join() === other.modifications.join() &&
    JSON.stringify(one.parts) === JSON.stringify(other.parts)
  );
}
