/** The menu of the page server, before a call and in it, and the prices of what is chosen. */

import type { DishView as Dish, MenuSection, MenuSections, OrderItem } from "@bella-vista/client";
import { completed } from "@typed-handoffs/client";
import { createContext, useCallback, useContext, useEffect, useState } from "react";
import { halfOf } from "./words";

/** How often a menu that is looked at, or that of a house that takes no orders, is read again, in milliseconds. */
const AGAIN_MS = 5_000;

export type Section = MenuSection["section"];
export type House = MenuSections["house"];

export interface Menu {
  house: House;
  sections: readonly Section[];
}

export interface MenuState {
  /** The menu as it was last read; null before. */
  menu: Menu | null;
  /** The last attempt to read it has failed. */
  failed: boolean;
  read: () => void;
}

/** What is taken for true of a house whose server does not tell, or as long as it is not read. */
export const USUAL: Pick<
  House,
  | ("name" | "phone" | "address" | "currency" | "open_now" | "paused" | "opens_at")
  | ("hours" | "lead_minutes" | "payment_methods" | "tips" | "tip_base")
> = {
  name: "",
  phone: null,
  address: null,
  currency: "USD",
  open_now: true,
  paused: false,
  opens_at: null,
  hours: {},
  lead_minutes: { pickup: 20, delivery: 45 },
  payment_methods: ["cash", "card"],
  tips: [15, 18, 20],
  tip_base: "subtotal",
};

/** The menu that was read last; null before. */
export const MenuContext = createContext<Menu | null>(null);

/** The house of that menu. */
export function useHouse(): typeof USUAL {
  return useContext(MenuContext)?.house ?? USUAL;
}

/** What of a line is sold out now: the dish itself, or parts of a combo. */
export function soldOutOf(menu: Menu | null, { name, parts }: OrderItem): string[] {
  if (menu === null) return [];
  const names = new Set([name, ...parts.map((part) => part.name)]);
  return menu.sections
    .flatMap(({ dishes }) => dishes)
    .filter((dish) => !dish.available && names.has(dish.name))
    .map((dish) => dish.name);
}

/** How the house hands over its food. */
export function servicesOf({ lead_minutes }: Pick<House, "lead_minutes">) {
  return (["pickup", "delivery"] as const).filter((kind) => lead_minutes[kind] !== null);
}

/** Whether staff have paused orders, or the house is closed. */
export function takesNoOrders(house: House): boolean {
  return house.paused || !house.open_now;
}

/** How many days ahead a guest can choose by hand. */
const DAYS = 14;
const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/**
 * The days that can be chosen, such as `2026-11-24`: the next two weeks without those on which the house is always closed.
 *
 * @param present - The time that it is, in the restaurant's zone.
 * @param chosen - A time on a day that can be chosen whatever it is.
 */
export function openDays(hours: House["hours"], present: string, chosen: string | null): string[] {
  const first = Date.parse(`${present.slice(0, 10)}T00:00:00Z`);
  const days = Array.from({ length: DAYS }, (_, place) => new Date(first + place * 86_400_000))
    .filter((day) => hours[WEEKDAYS[day.getUTCDay()] ?? ""]?.length !== 0)
    .map((day) => day.toISOString().slice(0, 10));
  const had = chosen?.slice(0, 10);
  return had && !days.includes(had) ? [...days, had].sort() : days;
}

const warned = new Set<string>();

/**
 * Read a menu of a server of any version.
 *
 * @throws {Error} It is no menu.
 */
export function menuFrom(text: string): Menu {
  const { house, sections } = JSON.parse(text) as Partial<Menu>;
  if (!Array.isArray(sections)) throw new Error("the menu has no sections");
  const tell = (field: string) => {
    if (warned.has(field)) return;
    warned.add(field);
    console.warn(`[bella-vista] an older server does not send house.${field}`);
  };
  return { house: completed<House>(house ?? {}, USUAL, tell), sections };
}

async function fetchMenu(): Promise<string> {
  // The browser sends the tag of what it has; an unchanged menu is not sent again.
  const answer = await fetch("/api/menu", {
    cache: "no-cache",
    signal: AbortSignal.timeout(10_000),
  });
  if (!answer.ok) throw new Error(`no menu: ${answer.status}`);
  return answer.text();
}

/**
 * The menu, which stays as it was while a new one is read.
 *
 * @param wanted - It is of use on this page.
 * @param looking - The guest looks at it, or has dishes of it on the ticket: what is sold out or paused meanwhile is shown.
 */
export function useMenu(wanted: boolean, looking: boolean): MenuState {
  const [{ menu }, setMenu] = useState<{ text: string; menu: Menu | null }>({
    text: "",
    menu: null,
  });
  const [failed, setFailed] = useState(false);
  const read = useCallback(async () => {
    try {
      const text = await fetchMenu();
      setMenu((before) => (before.text === text ? before : { text, menu: menuFrom(text) }));
      setFailed(false);
    } catch (error) {
      console.warn("[bella-vista] the menu could not be read", error);
      setFailed(true);
    }
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: beginning to look is a reason to read
  useEffect(() => {
    if (wanted) void read();
  }, [wanted, looking, read]);
  const closed = menu !== null && takesNoOrders(menu.house);
  const again = wanted && (looking || closed || failed);
  useEffect(() => {
    if (!again) return;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") void read();
    }, AGAIN_MS);
    return () => clearInterval(timer);
  }, [again, read]);
  return { menu, failed, read: useCallback(() => void read(), [read]) };
}

/** Whether a dish needs no choosing: one size, nothing to be picked. */
export function isSimple(dish: Dish): boolean {
  return (
    dish.parts.length === 0 &&
    dish.default_size !== null &&
    Object.keys(dish.sizes).length === 1 &&
    dish.with.length === 0 &&
    dish.options.length === 0
  );
}

/**
 * The dishes that have all of some words in their name, description or contents.
 *
 * If there are none, long words may be misspelt: one letter more, less, other, or two in the wrong order.
 */
export function search(dishes: readonly Dish[], words: string): ReadonlySet<Dish> {
  const wanted = searchable(words).split(/\s+/);
  const texts = dishes.map((dish) => ({
    dish,
    text: searchable([dish.name, dish.description ?? "", ...dish.with].join(" ")),
  }));
  const having = (has: (text: string, word: string) => boolean) =>
    texts.filter(({ text }) => wanted.every((word) => has(text, word))).map(({ dish }) => dish);
  const has = (text: string, word: string) => text.includes(word);
  const exact = having(has);
  if (exact.length > 0) return new Set(exact);
  return new Set(
    having(
      (text, word) =>
        has(text, word) ||
        (word.length >= MISSPELT && text.split(/[^\p{L}]+/u).some((each) => isNear(each, word))),
    ),
  );
}

/** From how many letters on a word may be misspelt. */
const MISSPELT = 5;

/** In lower case, and without accents. */
function searchable(words: string): string {
  return words.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

/** Whether one letter more, less or other, or two letters in the other order, make a word the same. */
function isNear(one: string, other: string): boolean {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  const [a, b] = [one.slice(at), other.slice(at)];
  return (
    a.slice(1) === b.slice(1) ||
    a.slice(1) === b ||
    a === b.slice(1) ||
    (a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2))
  );
}

/**
 * Which stated allergens the guest's allergies name; "nuts" meets "tree nuts".
 *
 * Only the kitchen's families are complete: a line of the ticket has them in `allergens_met`.
 */
export function meets(allergens: readonly string[], allergies: readonly string[]): string[] {
  const told = allergies.map(plain).filter(Boolean);
  return allergens.filter((each) => {
    const stated = plain(each);
    return told.some((other) => stated.includes(other) || other.includes(stated));
  });
}

function plain(word: string): string {
  return word.toLowerCase().trim().replace(/s$/, "");
}

/** How much of each `with` word: absent means as it is. */
export type Amounts = Record<string, "no" | "light" | "extra">;
/** Where a choice lies, or how often it is taken. */
export type Taken = Record<string, Record<string, "all" | "half" | "other half" | number>>;

/** A dish of a combo, as it is chosen. */
export interface ChosenPart {
  name: string;
  chosen: Chosen;
}

/** The dish of a name, for the parts of a combo. */
export type FindDish = (name: string) => Dish | undefined;

const noOther: FindDish = () => undefined;

export interface Chosen {
  size: string;
  amounts: Amounts;
  taken: Taken;
  parts: readonly (readonly ChosenPart[])[];
  quantity: number;
  note: string;
  /** Words of the line that the sheet has no control for. They stay as they are. */
  others: readonly string[];
}

const NOTHING_CHOSEN: Chosen = {
  ...{ size: "", amounts: {}, taken: {}, parts: [], quantity: 1, note: "", others: [] },
};

/** The size of a dish that a combo's price covers, by the server's rule: the default one, or else the cheapest. */
export function coveredSize(dish: Dish): string {
  const sizes = Object.entries(dish.sizes);
  const cheapest = sizes.reduce((least, each) => (each[1] < least[1] ? each : least));
  return dish.default_size ?? cheapest[0];
}

/** The choices that a dish of a combo starts with. */
export function firstPart(name: string, find: FindDish): ChosenPart {
  const dish = find(name);
  if (!dish) return { name, chosen: NOTHING_CHOSEN };
  return { name, chosen: { ...firstChoice(dish, find), size: coveredSize(dish) } };
}

/** The dishes that a part of a combo starts with; of several to be chosen, none unless there is only one to choose. */
function firstParts({ choose, dishes }: Dish["parts"][number], find: FindDish): ChosenPart[] {
  const there = dishes.filter((name) => find(name)?.available !== false);
  if (choose > 1 && dishes.length > 1 && there.length !== 1) return [];
  return Array.from({ length: choose }, () => firstPart(there[0] ?? dishes[0] ?? "", find));
}

/** Whether anything can be chosen of a dish that stands in a combo. */
export function hasChoices(dish: Dish): boolean {
  return Object.keys(dish.sizes).length > 1 || dish.with.length > 0 || dish.options.length > 0;
}

/** The choices that a dish starts with. */
export function firstChoice(dish: Dish, find: FindDish = noOther): Chosen {
  const sizes = Object.keys(dish.sizes);
  const taken: Taken = {};
  for (const option of dish.options) {
    taken[option.name] = option.default === null ? {} : { [option.default]: "all" };
  }
  return {
    size: dish.default_size ?? (sizes.length === 1 ? (sizes[0] ?? "") : ""),
    amounts: {},
    taken,
    parts: dish.parts.map((part) => firstParts(part, find)),
    quantity: 1,
    note: "",
    others: [],
  };
}

/** The choices as the menu's words; what is chosen anyway is left out. */
export function modificationsOf(dish: Dish, chosen: Chosen): string[] {
  const words = Object.entries(chosen.amounts).map(([name, amount]) => `${amount} ${name}`);
  for (const option of dish.options) {
    const taken = chosen.taken[option.name] ?? {};
    const standard = option.default;
    if (standard !== null && taken[standard] === undefined && Object.keys(taken).length === 0) {
      words.push(`no ${standard}`);
    }
    for (const [name, how] of Object.entries(taken)) {
      if (name === standard && how === "all" && Object.keys(taken).length === 1) continue;
      if (typeof how === "number") words.push(`${how} ${name}`);
      else words.push(how === "all" ? name : `${how} ${name}`);
    }
  }
  return [...words, ...chosen.others];
}

/** The choices of a line that is on the ticket. */
export function choiceOf(
  dish: Dish,
  line: Pick<OrderItem, "size" | "quantity" | "note" | "modifications" | "parts">,
  find = noOther,
): Chosen {
  const chosen = firstChoice(dish, find);
  const parts = line.parts.map((part) => partOf(part, find)); // in the order of the combo's parts
  chosen.parts = dish.parts.map((part) => {
    const there = parts.splice(0, part.choose);
    return there.length > 0 ? there : firstParts(part, find);
  });
  chosen.size = line.size ?? chosen.size;
  chosen.quantity = line.quantity;
  chosen.note = line.note ?? "";
  const others: string[] = [];
  const replaced = new Set<string>();
  const choose = (name: string, how: Taken[string][string]): boolean => {
    const option = dish.options.find((each) => each.choices.some((choice) => choice.name === name));
    if (!option) return false;
    // Whatever is named takes the place of what stands chosen when nothing is.
    if (!replaced.has(option.name)) chosen.taken[option.name] = {};
    replaced.add(option.name);
    chosen.taken[option.name] = { ...chosen.taken[option.name], [name]: how };
    return true;
  };
  for (const word of line.modifications) {
    const amount = /^(no|light|extra) (.+)$/.exec(word);
    const half = /^(other half|half) (.+)$/.exec(word);
    const count = /^(\d+) (.+)$/.exec(word);
    if (choose(word, "all")) continue;
    if (amount?.[1] && amount[2] && dish.with.includes(amount[2])) {
      chosen.amounts[amount[2]] = amount[1] as "no" | "light" | "extra";
    } else if (
      amount?.[1] === "no" &&
      dish.options.some((option) => option.default === amount[2])
    ) {
      const option = dish.options.find((each) => each.default === amount[2]);
      if (option) chosen.taken[option.name] = {};
    } else if (half?.[2] && choose(half[2], half[1] as "half" | "other half")) {
      // taken
    } else if (count?.[2] && choose(count[2], Number(count[1]))) {
      // taken
    } else others.push(word);
  }
  return { ...chosen, others };
}

/** A dish of a combo that is on the ticket. */
function partOf(part: OrderItem["parts"][number], find: FindDish): ChosenPart {
  const { name, size, modifications } = part;
  const dish = find(name);
  if (!dish)
    return { name, chosen: { ...NOTHING_CHOSEN, size: size ?? "", others: modifications } };
  const line = {
    size: size ?? coveredSize(dish),
    modifications,
    parts: [],
    quantity: 1,
    note: null,
  };
  return { name, chosen: choiceOf(dish, line, find) };
}

/** The dishes of a combo as a command names them. */
export function partsOf(chosen: Chosen, find: FindDish) {
  return chosen.parts.flat().map((part) => inWords(part, find));
}

function inWords({ name, chosen }: ChosenPart, find: FindDish) {
  const dish = find(name);
  const modifications = dish ? modificationsOf(dish, chosen) : [...chosen.others];
  const sized = dish ? Object.keys(dish.sizes).length > 1 : chosen.size !== "";
  return {
    name,
    ...(sized ? { size: chosen.size } : {}),
    ...(modifications.length > 0 ? { modifications } : {}),
  };
}

/** Whether dishes of a combo are the same with the same choices. */
export function alike(parts: readonly ChosenPart[], find: FindDish): boolean {
  const worded = parts.map((part) => {
    const { modifications = [], ...others } = inWords(part, find);
    return JSON.stringify({ ...others, modifications: [...modifications].sort() });
  });
  return new Set(worded).size < 2;
}

/** What a dish of a combo adds to the combo's price, null where only the server can tell it. */
function surcharge({ name, chosen }: ChosenPart, find: FindDish): number | null {
  const dish = find(name);
  const price = dish ? estimate(dish, chosen, find) : null;
  if (!dish || price === null) return null;
  const base = dish.sizes[chosen.size] ?? 0;
  return price - base + dearer(dish, chosen.size);
}

/** What a size of a dish adds to the price of a combo; a cheaper one takes nothing off. */
export function dearer(dish: Dish, size: string): number {
  return Math.max(0, (dish.sizes[size] ?? 0) - (dish.sizes[coveredSize(dish)] ?? 0));
}

/** The price of one by the menu, null where only the server can tell it; it computes the price again. */
export function estimate(dish: Dish, chosen: Chosen, find: FindDish = noOther): number | null {
  const base = dish.sizes[chosen.size];
  if (base === undefined || chosen.others.length > 0) return null;
  let sum = base;
  for (const part of chosen.parts.flat()) {
    const more = surcharge(part, find);
    if (more === null) return null;
    sum += more;
  }
  for (const [name, amount] of Object.entries(chosen.amounts)) {
    if (amount === "extra") sum += dish.extra[name]?.[chosen.size] ?? 0;
  }
  for (const option of dish.options) {
    for (const [name, how] of Object.entries(chosen.taken[option.name] ?? {})) {
      const price = option.choices.find((choice) => choice.name === name)?.prices[chosen.size] ?? 0;
      if (typeof how === "number") sum += price * how;
      else sum += how === "all" ? price : halfOf(price);
    }
  }
  return sum;
}

/** The allergens of a dish with its present choices. */
export function allergensOf(dish: Dish, chosen: Chosen, find: FindDish = noOther): string[] {
  const all = new Set(dish.allergens);
  for (const part of chosen.parts.flat()) {
    const other = find(part.name);
    for (const allergen of other ? allergensOf(other, part.chosen, find) : []) all.add(allergen);
  }
  for (const option of dish.options) {
    for (const name of Object.keys(chosen.taken[option.name] ?? {})) {
      const choice = option.choices.find((each) => each.name === name);
      for (const allergen of choice?.allergens ?? []) all.add(allergen);
    }
  }
  return [...all];
}

/** A part of a combo that has too few dishes. */
export interface OpenPart {
  /** How many are still to be chosen. */
  open: number;
  /** What there is to choose from. */
  dishes: readonly string[];
}

/** The first group that has too few choices, or null; of a dish in a combo with its name. */
export function missing(
  dish: Dish,
  chosen: Chosen,
  find: FindDish = noOther,
): string | OpenPart | null {
  const lacks = lacking(dish, chosen);
  if (lacks !== null) return lacks;
  for (const [place, { choose, dishes }] of dish.parts.entries()) {
    const taken = chosen.parts[place] ?? [];
    for (const part of taken) {
      const other = find(part.name);
      const lacks = other ? lacking(other, part.chosen) : null;
      if (lacks !== null) return `${part.name}, ${lacks}`;
    }
    const open = choose - taken.length;
    if (open > 0) return { open, dishes: dishes.filter((name) => find(name)?.available !== false) };
  }
  return null;
}

/** The first group of one dish that has too few choices, or null. */
export function lacking(dish: Dish, chosen: Chosen): string | null {
  if (dish.sizes[chosen.size] === undefined) return "size";
  const group = dish.options.find(
    (option) => Object.keys(chosen.taken[option.name] ?? {}).length < option.min,
  );
  return group?.name ?? null;
}
