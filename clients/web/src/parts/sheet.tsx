/**
 * A dish's sheet: size, what is on it, options, halves.
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
import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import { useOneAtATime } from "../model/hooks";
import {
  allergensOf,
  type Chosen,
  choiceOf,
  estimate,
  firstChoice,
  meets,
  missing,
  modificationsOf,
} from "../model/menu";
import { canOrder } from "../model/order";
import { usePage } from "../model/page";
import { allergenText, capital, money } from "../model/words";
import { useTexts } from "../texts";
import { Drawing, Pizza, type Topping } from "./drawings";
import { Refused } from "./refused";
import "../styles/sheet.css";

const FOLDED = 8;

export function Sheet({
  dish,
  section,
  order,
  line,
  over = false,
  back,
}: {
  dish: Dish;
  section: string;
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
    line ? choiceOf(dish, line) : firstChoice(dish),
  );
  const [lacking, setLacking] = useState<string | null>(null);
  const [busy, oneAtATime] = useOneAtATime();
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    title.current?.focus();
  }, []);
  const change = (part: Partial<Chosen>) => {
    setLacking(null);
    setChosen((before) => ({ ...before, ...part }));
  };

  const each = estimate(dish, chosen);
  const price = each === null ? "" : money(each * chosen.quantity, order.currency);
  const holds = allergensOf(dish, chosen);
  const met = meets(holds, order.allergies);
  const place = "sheet";

  const send = (event: FormEvent) => {
    event.preventDefault();
    if (over) return;
    const lacks = missing(dish, chosen);
    setLacking(lacks);
    if (lacks !== null) return;
    void oneAtATime(async () => {
      if (await edit(place, commandFor(dish, chosen, line))) back();
    });
  };
  return (
    <form
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
        {Object.keys(dish.sizes).length > 1 && (
          <fieldset>
            <legend className="group">{words.size}</legend>
            <div className="picks">
              {Object.entries(dish.sizes).map(([size, cost]) => (
                <label className="pick" key={size}>
                  <input
                    type="radio"
                    name={`${id}-size`}
                    checked={chosen.size === size}
                    onChange={() => change({ size })}
                  />
                  <span lang="en">{capital(size)}</span>
                  <span className="amount">{money(cost, order.currency)}</span>
                </label>
              ))}
            </div>
          </fieldset>
        )}
        {dish.parts.map((part, number) => (
          <Parts
            // biome-ignore lint/suspicious/noArrayIndexKey: a combo's parts never move
            key={number}
            part={part}
            taken={chosen.parts[number] ?? []}
            onChange={(taken) =>
              change({ parts: chosen.parts.map((old, at) => (at === number ? taken : old)) })
            }
          />
        ))}
        {dish.options
          .filter((option) => option.max === 1 && option.min === 1)
          .map((option) => (
            <Group
              key={option.name}
              option={option}
              chosen={chosen}
              order={order}
              onChange={change}
            />
          ))}
        {dish.with.length > 0 && (
          <With dish={dish} chosen={chosen} order={order} onChange={change} />
        )}
        {dish.options
          .filter((option) => !(option.max === 1 && option.min === 1))
          .map((option) => (
            <Group
              key={option.name}
              option={option}
              chosen={chosen}
              order={order}
              onChange={change}
            />
          ))}
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
      <div className="sheet-foot">
        <Refused place={place} />
        {lacking && (
          <p className="refused" role="alert">
            {words.missing(lacking === "size" ? words.size : lacking)}
          </p>
        )}
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for form fields */}
        <span className="stepper" role="group" aria-label={words.howMany}>
          <button
            type="button"
            aria-label={texts.ticket.fewer(dish.name)}
            disabled={chosen.quantity <= 1}
            onClick={() => change({ quantity: chosen.quantity - 1 })}
          >
            −
          </button>
          <output>{chosen.quantity}</output>
          <button
            type="button"
            aria-label={texts.ticket.more(dish.name)}
            onClick={() => change({ quantity: chosen.quantity + 1 })}
          >
            +
          </button>
        </span>
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

function commandFor(dish: Dish, chosen: Chosen, line: OrderItem | undefined): Command {
  const note = chosen.note.trim();
  const what = {
    ...(Object.keys(dish.sizes).length > 1 ? { size: chosen.size } : {}),
    ...(dish.parts.length > 0
      ? { parts: partsOf(chosen, line) }
      : { modifications: modificationsOf(dish, chosen) }),
    quantity: chosen.quantity,
  };
  return line
    ? { op: "change_item", line_id: line.id, ...what, note }
    : { op: "add_item", name: dish.name, ...what, ...(note ? { note } : {}) };
}

/** The parts of a combo; one that stays keeps its size and what is different about it. */
function partsOf(chosen: Chosen, line: OrderItem | undefined) {
  const before = [...(line?.parts ?? [])];
  return chosen.parts.flat().map((name) => {
    const place = before.findIndex((part) => part.name === name);
    return place < 0 ? { name } : { ...before.splice(place, 1)[0], name };
  });
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
  return (
    <div className="choice-row" role="radiogroup" aria-label={label}>
      {options.map(([each, word]) => (
        <label key={each}>
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
function Group({ option, chosen, order, onChange }: Omit<GroupProps, "dish"> & { option: Option }) {
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
  const folded = option.choices.length > FOLDED + 3 && !all;
  const shown = folded
    ? option.choices.filter((choice, place) => place < FOLDED || taken[choice.name] !== undefined)
    : option.choices;
  const heading =
    option.max > 1 ? words.upTo(capital(option.name), option.max) : capital(option.name);
  const full = option.max > 1 && count >= option.max;
  return (
    <fieldset>
      <legend className="group" lang="en">
        {heading}
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
                  most={option.max}
                  disabled={!choice.available}
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
          {words.showAll(option.choices.length)}
        </button>
      )}
    </fieldset>
  );
}

function Count({
  name,
  value,
  most,
  disabled,
  onChange,
}: {
  name: string;
  value: number;
  most: number;
  disabled: boolean;
  onChange: (value: number) => void;
}) {
  const texts = useTexts();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for form fields
    <span className="stepper" role="group" aria-label={texts.ticket.howMany(name)}>
      <button
        type="button"
        aria-label={texts.ticket.fewer(name)}
        disabled={disabled || value <= 0}
        onClick={() => onChange(value - 1)}
      >
        −
      </button>
      <output>{value}</output>
      <button
        type="button"
        aria-label={texts.ticket.more(name)}
        disabled={disabled || value >= most}
        onClick={() => onChange(value + 1)}
      >
        +
      </button>
    </span>
  );
}

/** A part of a combo: so many of these dishes. */
function Parts({
  part,
  taken,
  onChange,
}: {
  part: Dish["parts"][number];
  taken: readonly string[];
  onChange: (taken: readonly string[]) => void;
}) {
  const words = useTexts().sheet;
  const id = useId();
  return (
    <fieldset>
      <legend className="group">{words.choose(part.choose)}</legend>
      <div className="picks">
        {taken.map((name, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the places of a part never move
          <div key={place}>
            <label className="unseen" htmlFor={`${id}-${place}`}>
              {words.choose(1)} {place + 1}
            </label>
            <select
              id={`${id}-${place}`}
              className="field"
              lang="en"
              value={name}
              onChange={(event) =>
                onChange(taken.map((old, at) => (at === place ? event.target.value : old)))
              }
            >
              {part.dishes.map((dish) => (
                <option key={dish}>{dish}</option>
              ))}
            </select>
          </div>
        ))}
      </div>
    </fieldset>
  );
}
