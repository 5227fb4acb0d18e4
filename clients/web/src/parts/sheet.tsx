/**
 * A dish's sheet: size, what is on it, options, halves; of a combo, those of each of its dishes.
 *
 * It takes the menu's place and is no dialog: dock and ticket stay usable, and a choice may also be said.
 */

import type {
  Command,
  DishView as Dish,
  OptionView as Option,
  Order,
  OrderItem,
} from "@bella-vista/client";
import {
  createContext,
  type FormEvent,
  type ReactNode,
  useContext,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { flushSync } from "react-dom";
import { details } from "../model/changes";
import { useOneAtATime, useReservedHeight } from "../model/hooks";
import {
  alike,
  allergensOf,
  type Chosen,
  type ChosenPart,
  choiceOf,
  dearer,
  estimate,
  type FindDish,
  firstChoice,
  firstPart,
  hasChoices,
  lacking,
  meets,
  missing,
  modificationsOf,
  type OpenPart,
  partsOf,
} from "../model/menu";
import { canOrder } from "../model/order";
import { usePage } from "../model/page";
import { allergenText, capital, money } from "../model/words";
import { useTexts } from "../texts";
import { Drawing, Pizza, type Topping } from "./drawings";
import { Refused } from "./refused";
import "../styles/sheet.css";

const FOLDED = 8;
/** How many dishes are named where some are still to be chosen. */
const NAMED = 3;

/** Whether the guest has tried to add the dish: from then on each group says how much of it is still to be chosen. */
const Asked = createContext(false);

/** Moves the focus to the first group of which something is still to be chosen. */
function focusOpen(form: HTMLFormElement | null) {
  const group = form?.querySelector(".open");
  for (let at = group?.closest("details"); at; at = at.parentElement?.closest("details")) {
    at.open = true;
  }
  const fields = "input:enabled, select, button:not([aria-disabled=true])";
  group?.closest("fieldset")?.querySelector<HTMLElement>(fields)?.focus();
}

/** How much of a group is still to be chosen, in its title. */
function Open({ count }: { count: number }) {
  const words = useTexts().sheet;
  if (!useContext(Asked) || count <= 0) return null;
  return (
    <>
      {" "}
      <span className="open met">{words.open(count)}</span>
    </>
  );
}

export function Sheet({
  dish,
  section,
  find,
  order,
  line,
  over = false,
  back,
}: {
  dish: Dish;
  section: string;
  find: FindDish;
  order: Order;
  /** The line that is changed; without it the dish is added. */
  line?: OrderItem;
  /** The call has ended, and with it the time to order. */
  over?: boolean;
  back: () => void;
}) {
  const texts = useTexts();
  const { edit } = usePage();
  const words = texts.sheet;
  const id = useId();
  const [chosen, setChosen] = useState<Chosen>(() =>
    line ? choiceOf(dish, line, find) : firstChoice(dish, find),
  );
  const [lacks, setLacks] = useState<string | OpenPart | null>(null);
  const [asked, setAsked] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const [busy, oneAtATime] = useOneAtATime();
  const title = useRef<HTMLHeadingElement>(null);
  const foot = useReservedHeight<HTMLDivElement>("--foot-height");
  useLayoutEffect(() => {
    title.current?.focus();
  }, []);
  const change = (part: Partial<Chosen>) => {
    setLacks(null);
    setChosen((before) => ({ ...before, ...part }));
  };

  const each = estimate(dish, chosen, find);
  const price = each === null ? "" : money(each * chosen.quantity, order.currency);
  const holds = allergensOf(dish, chosen, find);
  const met = meets(holds, order.allergies);
  const place = "sheet";

  const send = (event: FormEvent) => {
    event.preventDefault();
    if (over) return;
    const now = missing(dish, chosen, find);
    setLacks(now);
    if (now !== null) {
      flushSync(() => setAsked(true));
      focusOpen(form.current);
      return;
    }
    void oneAtATime(async () => {
      if (await edit(place, commandFor(dish, chosen, find, line))) back();
    });
  };
  return (
    <form
      ref={form}
      className="sheet"
      aria-labelledby={`${id}-title`}
      onSubmit={send}
      onKeyDown={(event) => event.key === "Escape" && back()}
    >
      <div className="sheet-body">
        <button type="button" className="button quiet back" onClick={back}>
          {line ? words.backToTicket : words.back}
        </button>
        <div className="sheet-head">
          <div className="built">
            {isPizza(dish) ? (
              <Pizza
                toppings={toppingsOf(dish, chosen)}
                sauce={chosen.amounts["tomato sauce"] !== "no"}
              />
            ) : (
              <Drawing name={dish.name} section={section} holds={dish.with} />
            )}
          </div>
          <div>
            <h1 id={`${id}-title`} ref={title} tabIndex={-1} lang="en">
              {dish.name}
            </h1>
            {dish.description && <p lang="en">{dish.description}</p>}
            {holds.length > 0 && (
              <p className="fine">{words.asChosen(allergenText(holds, texts.card.allergens))}</p>
            )}
            {met.length > 0 && (
              <p className="met">{texts.card.meets(allergenText(met, texts.card.allergens))}</p>
            )}
          </div>
        </div>
        <Asked value={asked}>
          <Choices dish={dish} chosen={chosen} order={order} onChange={change} />
          {dish.parts.map((part, number) => (
            <Parts
              // biome-ignore lint/suspicious/noArrayIndexKey: a combo's parts never move
              key={number}
              part={part}
              taken={chosen.parts[number] ?? []}
              find={find}
              order={order}
              onChange={(taken) =>
                change({ parts: chosen.parts.map((old, at) => (at === number ? taken : old)) })
              }
            />
          ))}
        </Asked>
        <div>
          <label className="label" htmlFor={`${id}-note`}>
            {words.note} <span className="fine">{texts.optional}</span>
          </label>
          <input
            id={`${id}-note`}
            className="field"
            maxLength={280}
            placeholder={words.noteHint}
            value={chosen.note}
            onChange={(event) => change({ note: event.target.value })}
          />
        </div>
      </div>
      <div className="sheet-foot" ref={foot}>
        <Refused place={place} />
        {lacks && (
          <p className="refused" role="alert">
            {typeof lacks === "string"
              ? words.missing(lacks === "size" ? words.size : lacks)
              : words.missingDishes(lacks.open, someOf(lacks.dishes))}
          </p>
        )}
        <Count
          name={dish.name}
          value={chosen.quantity}
          least={1}
          onChange={(quantity) => change({ quantity })}
        />
        {over ? (
          <p className="fine">{texts.dock.over}</p>
        ) : (
          <button type="submit" className="button main" aria-disabled={busy || !canOrder(order)}>
            {line ? words.changeFor(price) : words.addFor(price)}
          </button>
        )}
      </div>
    </form>
  );
}

function commandFor(
  dish: Dish,
  chosen: Chosen,
  find: FindDish,
  line: OrderItem | undefined,
): Command {
  const note = chosen.note.trim();
  const what = whatOf(dish, chosen, find);
  const { quantity } = chosen;
  if (!line)
    return { op: "add_item", name: dish.name, ...what, quantity, ...(note ? { note } : {}) };
  // What stays is not sent: a line of a dish that is sold out can have a note, and fewer of it.
  const stays =
    JSON.stringify(what) === JSON.stringify(whatOf(dish, choiceOf(dish, line, find), find));
  return { op: "change_item", line_id: line.id, ...(stays ? {} : what), quantity, note };
}

/** The size, and the modifications or parts, as a command names them. */
function whatOf(dish: Dish, chosen: Chosen, find: FindDish) {
  return {
    ...(Object.keys(dish.sizes).length > 1 ? { size: chosen.size } : {}),
    ...(dish.parts.length > 0
      ? { parts: partsOf(chosen, find) }
      : { modifications: modificationsOf(dish, chosen) }),
  };
}

function someOf(names: readonly string[]): string {
  return names.slice(0, NAMED).join(", ") + (names.length > NAMED ? " …" : ".");
}

function isPizza(dish: Dish): boolean {
  return dish.options.some((option) => option.halves);
}

function toppingsOf(dish: Dish, chosen: Chosen): Topping[] {
  const toppings: Topping[] = dish.with
    .filter((name) => !/sauce/.test(name) && chosen.amounts[name] !== "no")
    .map((name) => ({ name, where: "all" }));
  for (const option of dish.options.filter((each) => each.halves)) {
    for (const [name, how] of Object.entries(chosen.taken[option.name] ?? {})) {
      toppings.push({ name, where: typeof how === "number" ? "all" : how });
    }
  }
  return toppings;
}

interface GroupProps {
  dish: Dish;
  chosen: Chosen;
  order: Order;
  onChange: (part: Partial<Chosen>) => void;
}

/**
 * All that can be chosen of a dish.
 *
 * @param covered - The dish stands in a combo: a size costs what it adds to the combo's price.
 */
function Choices({
  dish,
  chosen,
  order,
  covered = false,
  onChange,
}: GroupProps & { covered?: boolean }) {
  const words = useTexts().sheet;
  const id = useId();
  const groups = (ofOne: boolean) =>
    dish.options
      .filter((option) => (option.max === 1 && option.min === 1) === ofOne)
      .map((option) => (
        <Group
          key={option.name}
          dish={dish}
          option={option}
          chosen={chosen}
          order={order}
          onChange={onChange}
        />
      ));
  const costText = (size: string, cost: number) => {
    if (!covered) return money(cost, order.currency);
    const more = dearer(dish, size);
    return more > 0 && `+${money(more, order.currency)}`;
  };
  return (
    <>
      {Object.keys(dish.sizes).length > 1 && (
        <fieldset>
          <legend className="group">
            {words.size}
            <Open count={dish.sizes[chosen.size] === undefined ? 1 : 0} />
          </legend>
          <div className="picks">
            {Object.entries(dish.sizes).map(([size, cost]) => (
              <label className="pick" key={size}>
                <input
                  type="radio"
                  name={`${id}-size`}
                  checked={chosen.size === size}
                  onChange={() => onChange({ size })}
                />
                <span lang="en">{capital(size)}</span>
                <span className="amount">{costText(size, cost)}</span>
              </label>
            ))}
          </div>
        </fieldset>
      )}
      {groups(true)}
      {dish.with.length > 0 && (
        <With dish={dish} chosen={chosen} order={order} onChange={onChange} />
      )}
      {groups(false)}
    </>
  );
}

/** The ingredients of the dish: leave out, light, extra. */
function With({ dish, chosen, order, onChange }: GroupProps) {
  const texts = useTexts();
  const words = texts.sheet;
  const id = useId();
  const set = (name: string, amount: string) => {
    const { [name]: _, ...others } = chosen.amounts;
    onChange({
      amounts:
        amount === "normal" ? others : { ...others, [name]: amount as "no" | "light" | "extra" },
    });
  };
  return (
    <fieldset>
      <legend className="group">{words.already}</legend>
      {dish.with.map((name) => {
        const price = dish.extra[name]?.[chosen.size];
        return (
          <div className="topping" key={name}>
            <span>
              <span lang="en">{capital(name)}</span>
              {price ? (
                <span className="fine">
                  {" "}
                  {words.amount.extra?.toLowerCase()} +{money(price, order.currency)}
                </span>
              ) : null}
            </span>
            <Row
              id={`${id}-${name}`}
              label={name}
              options={["no", "light", "normal", "extra"].map((each) => [
                each,
                words.amount[each] ?? each,
              ])}
              value={chosen.amounts[name] ?? "normal"}
              onChange={(amount) => set(name, amount)}
            />
          </div>
        );
      })}
    </fieldset>
  );
}

/** One of several words about something of the menu. */
function Row({
  id,
  label,
  options,
  value,
  disabled = false,
  onChange,
}: {
  id: string;
  label: string;
  options: readonly (readonly [string, string])[];
  value: string;
  disabled?: boolean;
  onChange: (value: string) => void;
}) {
  const { code } = useTexts();
  return (
    <div className="choice-row" role="radiogroup" aria-label={label} lang="en">
      {options.map(([each, word]) => (
        <label key={each} lang={code}>
          <input
            type="radio"
            name={id}
            disabled={disabled}
            checked={value === each}
            onChange={() => onChange(each)}
          />
          {word}
        </label>
      ))}
    </div>
  );
}

/** A group of options: one of several, several, halves, or how many. */
function Group({ dish, option, chosen, order, onChange }: GroupProps & { option: Option }) {
  const texts = useTexts();
  const words = texts.sheet;
  const id = useId();
  const [all, setAll] = useState(false);
  const taken = chosen.taken[option.name] ?? {};
  const count = Object.keys(taken).length;
  const one = option.max === 1;
  const set = (next: typeof taken) => onChange({ taken: { ...chosen.taken, [option.name]: next } });
  const without = (name: string) => {
    const { [name]: _, ...others } = taken;
    return others;
  };
  const toggle = (name: string, how: "all" | "half" | "other half" | number | null) => {
    if (how === null) set(without(name));
    else set(one ? { [name]: how } : { ...taken, [name]: how });
  };
  // More of what is on the dish already is chosen there, unless a line has it as a choice.
  const [had] = useState(taken);
  const choices = option.choices.filter(
    ({ name }) => option.min > 0 || !dish.with.includes(name) || had[name] !== undefined,
  );
  const folded = choices.length > FOLDED + 3 && !all;
  const shown = folded
    ? choices.filter((choice, place) => place < FOLDED || taken[choice.name] !== undefined)
    : choices;
  const full = option.max > 1 && count >= option.max;
  if (choices.length === 0) return null;
  return (
    <fieldset>
      <legend className="group">
        <span lang="en">{capital(option.name)}</span>
        {option.max > 1 && words.upTo(option.max)}
        <Open count={option.min - count} />
      </legend>
      <div className={option.halves ? undefined : "picks"}>
        {one && option.min === 0 && (
          <label className="pick">
            <input type="radio" name={id} checked={count === 0} onChange={() => set({})} />
            {words.none}
          </label>
        )}
        {shown.map((choice) => {
          const price = choice.prices[chosen.size] ?? Object.values(choice.prices)[0] ?? 0;
          const cost = price > 0 && <span className="amount">+{money(price, order.currency)}</span>;
          const how = taken[choice.name];
          const met = meets(choice.allergens, order.allergies);
          const blocked = !choice.available || (full && how === undefined);
          const about = (
            <>
              <span lang="en">{capital(choice.name)}</span>
              {!choice.available && <span className="fine"> {texts.card.soldOut}</span>}
              {met.length > 0 && (
                <span className="met">
                  {" "}
                  {texts.ticket.holds(allergenText(met, texts.card.allergens))}
                </span>
              )}
            </>
          );
          if (option.halves) {
            return (
              <div className="topping" key={choice.name}>
                <span>
                  {about} <span className="fine">{cost}</span>
                </span>
                <Row
                  id={`${id}-${choice.name}`}
                  label={choice.name}
                  disabled={blocked}
                  options={[
                    ["no", words.noHalf],
                    ["half", words.half],
                    ["other half", words.otherHalf],
                    ["all", words.all],
                  ]}
                  value={how === undefined ? "no" : String(how)}
                  onChange={(next) =>
                    toggle(
                      choice.name,
                      next === "no" ? null : (next as "half" | "other half" | "all"),
                    )
                  }
                />
              </div>
            );
          }
          if (option.counted) {
            const number = typeof how === "number" ? how : how === "all" ? 1 : 0;
            return (
              <div className="topping" key={choice.name}>
                <span>
                  {about} <span className="fine">{cost}</span>
                </span>
                <Count
                  name={choice.name}
                  value={number}
                  most={choice.available ? option.max : 0}
                  onChange={(next) =>
                    toggle(choice.name, next === 0 ? null : next === 1 ? "all" : next)
                  }
                />
              </div>
            );
          }
          return (
            <label className="pick" key={choice.name}>
              <input
                type={one ? "radio" : "checkbox"}
                name={id}
                disabled={blocked}
                checked={how !== undefined}
                onChange={(event) =>
                  toggle(choice.name, one || event.target.checked ? "all" : null)
                }
              />
              <span>{about}</span>
              {cost}
            </label>
          );
        })}
      </div>
      {folded && (
        <button type="button" className="button quiet" onClick={() => setAll(true)}>
          {words.showAll(choices.length)}
        </button>
      )}
    </fieldset>
  );
}

function Count({
  name,
  value,
  least = 0,
  most = Number.POSITIVE_INFINITY,
  onChange,
}: {
  name: string;
  value: number;
  least?: number;
  most?: number;
  onChange: (value: number) => void;
}) {
  const texts = useTexts();
  // A button that is pressed to the end keeps the focus.
  const [low, full] = [value <= least, value >= most];
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for form fields
    <span className="stepper" role="group" aria-label={texts.ticket.howMany(name)}>
      <button
        type="button"
        aria-label={texts.ticket.fewer(name)}
        aria-disabled={low}
        onClick={() => low || onChange(value - 1)}
      >
        −
      </button>
      <output>{value}</output>
      <button
        type="button"
        aria-label={texts.ticket.more(name)}
        aria-disabled={full}
        onClick={() => full || onChange(value + 1)}
      >
        +
      </button>
    </span>
  );
}

interface PartsProps {
  part: Dish["parts"][number];
  taken: readonly ChosenPart[];
  find: FindDish;
  order: Order;
  onChange: (taken: readonly ChosenPart[]) => void;
}

/** A part of a combo: so many of these dishes, each with its own choices. */
function Parts(props: PartsProps) {
  const words = useTexts().sheet;
  const { choose, dishes } = props.part;
  return (
    <fieldset>
      <legend className="group">
        {dishes.length === 1 ? words.included : words.choose(choose)}
        <Open count={choose - props.taken.length} />
      </legend>
      {choose === 1 && dishes.length > 1 ? <OneOf {...props} /> : <SomeOf {...props} />}
    </fieldset>
  );
}

/** A part of one dish. */
function OneOf({ part, taken, find, order, onChange }: PartsProps) {
  const texts = useTexts();
  const id = useId();
  const { name, chosen } = taken[0] ?? firstPart("", find);
  return (
    <div className="part">
      <label className="unseen" htmlFor={id}>
        {texts.sheet.choose(1)}
      </label>
      <select
        id={id}
        className="field"
        lang="en"
        value={name}
        onChange={(event) => onChange([firstPart(event.target.value, find)])}
      >
        {part.dishes.map((dish) =>
          find(dish)?.available === false ? (
            <option key={dish} value={dish} lang={texts.code} disabled>
              {dish}: {texts.card.soldOut}
            </option>
          ) : (
            <option key={dish}>{dish}</option>
          ),
        )}
      </select>
      <PartChoices
        key={name}
        dish={find(name)}
        chosen={chosen}
        order={order}
        onChange={(change) => onChange([{ name, chosen: { ...chosen, ...change } }])}
      />
    </div>
  );
}

/** A part of several dishes: how many of each. */
function SomeOf({ part, taken, find, order, onChange }: PartsProps) {
  const texts = useTexts();
  const only = part.dishes.length === 1;
  const names = new Set([...part.dishes, ...taken.map(({ name }) => name)]);
  return (
    <>
      {!only && <output className="fine">{texts.sheet.chosen(taken.length, part.choose)}</output>}
      <div className="parts">
        {[...names].map((name) => {
          const dish = find(name);
          const these = taken.filter((one) => one.name === name);
          const met = meets(dish?.allergens ?? [], order.allergies);
          const soldOut = dish?.available === false;
          const replace = (next: readonly ChosenPart[]) =>
            onChange(
              [...names].flatMap((other) =>
                other === name ? next : taken.filter((one) => one.name === other),
              ),
            );
          return (
            <div className="part" key={name}>
              <div className="part-row">
                <span>
                  {only && these.length > 1 && `${these.length} × `}
                  <span lang="en">{name}</span>
                  {soldOut && <span className="fine"> {texts.card.soldOut}</span>}
                  {met.length > 0 && (
                    <span className="met">
                      {" "}
                      {texts.ticket.holds(allergenText(met, texts.card.allergens))}
                    </span>
                  )}
                </span>
                {!only && (
                  <Count
                    name={name}
                    value={these.length}
                    most={soldOut ? 0 : these.length + part.choose - taken.length}
                    onChange={(count) =>
                      replace(
                        count < these.length
                          ? these.slice(0, count)
                          : [...these, these.at(-1) ?? firstPart(name, find)],
                      )
                    }
                  />
                )}
              </div>
              {these.length > 0 && (
                <Pieces these={these} find={find} order={order} onChange={replace} />
              )}
            </div>
          );
        })}
      </div>
    </>
  );
}

/** The choices of the same dish, several times in a part: for all of them, or for each by itself. */
function Pieces({
  these,
  find,
  order,
  onChange,
}: {
  these: readonly ChosenPart[];
  find: FindDish;
  order: Order;
  onChange: (these: readonly ChosenPart[]) => void;
}) {
  const words = useTexts().sheet;
  const [apart, setApart] = useState(() => !alike(these, find));
  return (apart ? these : these.slice(0, 1)).map(({ name, chosen }, place) => (
    <PartChoices
      // biome-ignore lint/suspicious/noArrayIndexKey: only the last one comes or goes
      key={place}
      dish={find(name)}
      number={apart && these.length > 1 ? place + 1 : undefined}
      chosen={chosen}
      order={order}
      onChange={(change) =>
        onChange(
          these.map((each, at) =>
            apart && at !== place ? each : { name, chosen: { ...each.chosen, ...change } },
          ),
        )
      }
    >
      {!apart && these.length > 1 && (
        <button type="button" className="button quiet" onClick={() => setApart(true)}>
          {words.each(name)}
        </button>
      )}
    </PartChoices>
  ));
}

/** The choices of a dish in a combo, folded away unless one has to be made. */
function PartChoices({
  dish,
  number,
  children,
  ...rest
}: Omit<GroupProps, "dish"> & {
  dish: Dish | undefined;
  /** Which of several of this dish it is. */
  number?: number | undefined;
  children?: ReactNode;
}) {
  const words = useTexts().sheet;
  const [opened] = useState(() => dish !== undefined && lacking(dish, rest.chosen) !== null);
  if (!dish || !hasChoices(dish)) return null;
  const size = Object.keys(dish.sizes).length > 1 ? rest.chosen.size : null;
  const what = details({ size, modifications: modificationsOf(dish, rest.chosen), parts: [] });
  const name = number === undefined ? dish.name : `${dish.name} ${number}`;
  return (
    <details open={opened}>
      <summary>
        {words.partChoices(name)}
        {what && (
          <span className="fine" lang="en">
            {what}
          </span>
        )}
      </summary>
      <fieldset className="part-choices">
        <legend className="unseen" lang="en">
          {name}
        </legend>
        <Choices dish={dish} covered {...rest} />
        {children}
      </fieldset>
    </details>
  );
}
