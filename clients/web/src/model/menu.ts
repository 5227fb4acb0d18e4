/** Reads the menu from the agent, section by section, and knows what a choice costs. */

import type {
  DishView as Dish,
  MenuSection,
  MenuSections,
  OptionView as Option,
} from "@bella-vista/client";
import { useCallback, useEffect, useRef, useState } from "react";
import type { Session } from "./page";
import { halfOf } from "./words";

/** How often a house that takes no orders is looked at again, in milliseconds. */
const CLOSED_MS = 30_000;

export interface Section {
  name: string;
  served: MenuSection["section"]["served"];
  dishes: readonly Dish[];
}

export interface MenuState {
  /** Hours, usual tips and such, once the menu is read. */
  house: House | null;
  names: readonly string[];
  sections: ReadonlyMap<string, Section>;
  failed: boolean;
  /** Read a section, or all of them, unless they are there. */
  read: (name?: string) => void;
}

/** The house as an agent of any version tells it. */
export type House = NonNullable<MenuSections["house"]>;

/** Whether staff have paused orders, or the house is closed. */
export function takesNoOrders(house: House): boolean {
  return house.paused === true || house.open_now === false;
}

type Ask = Pick<Session, "request">;

/**
 * The menu as far as it was read; a new version, such as with something sold out, begins anew.
 *
 * @param ready - The agent can be asked.
 * @param looking - The guest looks at it: each time they begin to, the version is checked.
 */
export function useMenu(session: Ask, ready: boolean, looking: boolean): MenuState {
  const [names, setNames] = useState<readonly string[]>([]);
  const [sections, setSections] = useState<ReadonlyMap<string, Section>>(new Map());
  const [house, setHouse] = useState<House | null>(null);
  const [failed, setFailed] = useState(false);
  const [looks, setLooks] = useState(0);
  const asked = useRef(new Set<string>());
  const version = useRef("");

  // biome-ignore lint/correctness/useExhaustiveDependencies: looking again is a reason to ask
  useEffect(() => {
    if (!ready) return;
    let gone = false;
    readNames(session).then(
      (all) => {
        if (gone) return;
        setFailed(false);
        setHouse(all.house);
        if (all.version === version.current) return;
        version.current = all.version;
        asked.current.clear();
        setSections(new Map());
        setNames(all.names);
      },
      () => {
        if (!gone) setFailed(true);
      },
    );
    return () => {
      gone = true;
    };
  }, [session, ready, looking, looks]);

  const closed = house !== null && takesNoOrders(house);
  useEffect(() => {
    if (!closed) return;
    const timer = setInterval(() => setLooks((count) => count + 1), CLOSED_MS);
    return () => clearInterval(timer);
  }, [closed]);

  const read = useCallback(
    (name?: string) => {
      setFailed(false);
      for (const each of name === undefined ? names : [name]) {
        if (asked.current.has(each)) continue;
        asked.current.add(each);
        readSection(session, each).then(
          (section) => setSections((before) => new Map(before).set(each, section)),
          () => {
            asked.current.delete(each);
            setFailed(true);
          },
        );
      }
    },
    [session, names],
  );
  return { house, names, sections, failed, read };
}

async function readNames(
  session: Ask,
): Promise<{ version: string; names: readonly string[]; house: House | null }> {
  const names: string[] = [];
  let house: House | null = null;
  let version = "";
  let cursor: string | null = null;
  do {
    const page: MenuSections = await session.request("get_menu", cursor ? { cursor } : {});
    names.push(...page.sections);
    house = page.house ?? null;
    version = page.menu_version;
    cursor = page.cursor ?? null;
  } while (cursor);
  return { version, names, house };
}

async function readSection(session: Ask, name: string): Promise<Section> {
  const dishes: Dish[] = [];
  let served: Section["served"] = [];
  let cursor: string | null = null;
  do {
    const page: MenuSection = await session.request(
      "get_menu",
      cursor ? { section: name, cursor } : { section: name },
    );
    served = page.section.served;
    for (const dish of page.section.dishes) {
      const before = dishes.at(-1);
      // A dish with very many choices comes in pieces.
      if (dish.continued && before) {
        dishes[dishes.length - 1] = { ...before, options: joined(before.options, dish.options) };
      } else dishes.push(dish);
    }
    cursor = page.cursor ?? null;
  } while (cursor);
  return { name, served, dishes };
}

function joined(before: readonly Option[], more: readonly Option[]): Option[] {
  const all = [...before];
  for (const option of more) {
    const place = all.findIndex((each) => each.name === option.name);
    const known = all[place];
    if (known) all[place] = { ...known, choices: [...known.choices, ...option.choices] };
    else all.push(option);
  }
  return all;
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

/** Whether words are found in a dish's name, description or contents. */
export function matches(dish: Dish, words: string): boolean {
  const all = [dish.name, dish.description ?? "", ...dish.with].join(" ").toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
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

export interface Chosen {
  size: string;
  amounts: Amounts;
  taken: Taken;
  parts: readonly (readonly string[])[];
  quantity: number;
  note: string;
}

/** The choices that a dish starts with. */
export function firstChoice(dish: Dish): Chosen {
  const sizes = Object.keys(dish.sizes);
  const taken: Taken = {};
  for (const option of dish.options) {
    taken[option.name] = option.default === null ? {} : { [option.default]: "all" };
  }
  return {
    size: dish.default_size ?? (sizes.length === 1 ? (sizes[0] ?? "") : ""),
    amounts: {},
    taken,
    parts: dish.parts.map((part) =>
      Array.from({ length: part.choose }, () => part.dishes[0] ?? ""),
    ),
    quantity: 1,
    note: "",
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
  return words;
}

/** The choices of a line that is on the ticket; null if the page cannot show one of its words. */
export function choiceOf(
  dish: Dish,
  line: {
    size: string | null;
    quantity: number;
    note: string | null;
    modifications: readonly string[];
  },
): Chosen | null {
  const chosen = firstChoice(dish);
  if (dish.parts.length > 0) return null;
  chosen.size = line.size ?? chosen.size;
  chosen.quantity = line.quantity;
  chosen.note = line.note ?? "";
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
    } else return null;
  }
  return chosen;
}

/** The price of one by the menu; the server computes it again. */
export function estimate(dish: Dish, chosen: Chosen): number | null {
  const base = dish.sizes[chosen.size];
  if (base === undefined) return null;
  let sum = base;
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
export function allergensOf(dish: Dish, chosen: Chosen): string[] {
  const all = new Set(dish.allergens);
  for (const option of dish.options) {
    for (const name of Object.keys(chosen.taken[option.name] ?? {})) {
      const choice = option.choices.find((each) => each.name === name);
      for (const allergen of choice?.allergens ?? []) all.add(allergen);
    }
  }
  return [...all];
}

/** The first group that has too few choices, or null. */
export function missing(dish: Dish, chosen: Chosen): string | null {
  if (dish.sizes[chosen.size] === undefined) return "size";
  for (const option of dish.options) {
    const count = Object.keys(chosen.taken[option.name] ?? {}).length;
    if (count < option.min) return option.name;
  }
  return null;
}
