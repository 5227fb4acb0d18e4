/** The menu: browse, search, add. What has to be chosen opens the dish's sheet. */

import type { DishView as Dish, Order } from "@bella-vista/client";
import { Fragment, type ReactNode, useDeferredValue, useId, useLayoutEffect } from "react";
import { addressOf } from "../model/hooks";
import { isSimple, type MenuState, meets, type Section, search } from "../model/menu";
import { canOrder } from "../model/order";
import { usePage } from "../model/page";
import { allergenText, capital, hoursText, money } from "../model/words";
import { type Texts, useTexts } from "../texts";
import { Drawing } from "./drawings";
import { Refused } from "./refused";
import "../styles/menu.css";

/** Where in the menu the guest is; it outlives a look at a dish. */
export interface Browsing {
  section: string | null;
  typed: string;
  hide: boolean;
}

export const NOTHING_BROWSED: Browsing = { section: null, typed: "", hide: false };

export function Menu({
  state,
  order,
  actions,
  opened,
  below = false,
  browsing,
  onBrowse,
}: {
  state: MenuState;
  order: Order | null;
  /** What can be done with a dish; before the call nothing. */
  actions?: (dish: Dish) => ReactNode;
  /** The dish that was looked at last. */
  opened?: string;
  /** Below the page's own title: each heading is one level lower. */
  below?: boolean;
  browsing: Browsing;
  onBrowse: (browsing: Browsing) => void;
}) {
  const texts = useTexts();
  const words = texts.card;
  const id = useId();
  const { section, typed, hide } = browsing;
  const sought = useDeferredValue(typed.trim());
  const { menu, failed, read } = state;
  const Title = below ? "h2" : "h1";
  const sections = menu?.sections ?? [];
  const current = sections.find((each) => each.name === section) ?? sections[0];
  // Coming back from a sheet, the dish it was opened from gets the focus again, before anything is painted without one.
  useLayoutEffect(() => {
    if (opened) document.getElementById(dishId(opened))?.focus();
  }, [opened]);

  const allergies = order?.allergies ?? [];
  // A word that the menu does not use hides nothing, so hiding by it is not offered.
  const stated = sections.flatMap((each) => each.dishes).flatMap((dish) => dish.allergens);
  const known = allergies.filter((allergy) => meets(stated, [allergy]).length > 0);
  const hits = sought
    ? search(
        sections.flatMap((each) => each.dishes),
        sought,
      )
    : null;
  const found: Section[] = (hits ? sections : current ? [current] : []).map((each) => ({
    ...each,
    dishes: each.dishes.filter(
      (dish) =>
        (!hits || hits.has(dish)) && (!hide || meets(dish.allergens, allergies).length === 0),
    ),
  }));
  const count = found.reduce((sum, each) => sum + each.dishes.length, 0);
  return (
    <div className="menu">
      <div className="menu-head">
        <Title>{words.title}</Title>
        <div className="search">
          <label className="label" htmlFor={id}>
            {words.search}
          </label>
          <input
            id={id}
            type="search"
            className="field"
            placeholder={words.searchHint}
            value={typed}
            onChange={(event) => onBrowse({ ...browsing, typed: event.target.value })}
          />
        </div>
        {known.length > 0 && (
          <label className="switch">
            <span>{words.hide(allergenText(known, words.allergens))}</span>
            <input
              type="checkbox"
              checked={hide}
              onChange={(event) => onBrowse({ ...browsing, hide: event.target.checked })}
            />
          </label>
        )}
      </div>
      <nav aria-label={words.sections} className="sections">
        {sections.map(({ name }) => (
          <button
            key={name}
            type="button"
            lang="en"
            aria-current={!sought && name === current?.name ? "true" : undefined}
            onClick={() => onBrowse({ ...browsing, section: name, typed: "" })}
          >
            {name}
          </button>
        ))}
      </nav>
      {hide && <p className="fine">{words.noPromise}</p>}
      <p role="status" className={sought ? "fine" : "unseen"}>
        {sought ? (count > 0 ? words.found(count) : words.nothing) : ""}
      </p>
      {menu === null && failed ? (
        <div className="note">
          <p>{words.notLoaded}</p>
          <div className="row">
            <button type="button" className="button" onClick={read}>
              {words.again}
            </button>
          </div>
        </div>
      ) : (
        menu === null && <p className="fine">{words.loading}</p>
      )}
      {found.map((each) => (
        <SectionOf
          key={each.name}
          section={each}
          currency={menu?.house.currency ?? ""}
          order={order}
          titled={sought !== ""}
          below={below}
          actions={actions}
        />
      ))}
    </div>
  );
}

function SectionOf({
  section,
  titled,
  ...rest
}: {
  section: Section;
  titled: boolean;
  below: boolean;
  currency: string;
  order: Order | null;
  actions?: (dish: Dish) => ReactNode;
}) {
  const texts = useTexts();
  if (section.dishes.length === 0) return null;
  const Title = rest.below ? "h3" : "h2";
  return (
    <section aria-label={section.name}>
      <Title className={titled ? "section-title" : "unseen"} lang="en">
        {section.name}
      </Title>
      {section.served.length > 0 && <p className="fine">{servedText(section.served, texts)}</p>}
      <ul className="dishes">
        {section.dishes.map((dish) => (
          <DishOf key={dish.name} dish={dish} section={section.name} {...rest} />
        ))}
      </ul>
    </section>
  );
}

function DishOf({
  dish,
  section,
  below,
  currency,
  order,
  actions,
}: {
  dish: Dish;
  section: string;
  below: boolean;
  currency: string;
  order: Order | null;
  actions?: (dish: Dish) => ReactNode;
}) {
  const texts = useTexts();
  const words = texts.card;
  const met = meets(dish.allergens, order?.allergies ?? []);
  const Title = below ? "h4" : "h3";
  return (
    <li className={dish.available ? "dish" : "dish out"}>
      <Drawing
        name={dish.name}
        section={section}
        holds={[...dish.with, ...wordsOf(dish.description)]}
      />
      <div>
        <Title lang="en">{dish.name}</Title>
        {dish.description && <p lang="en">{dish.description}</p>}
        <p className="price">
          <Prices dish={dish} currency={currency} />
        </p>
        <p className="fine">{factsText(dish, texts)}</p>
        {met.length > 0 && <p className="met">{words.meets(allergenText(met, words.allergens))}</p>}
        {dish.served.length > 0 && <p className="fine">{servedText(dish.served, texts)}</p>}
        {!dish.available ? (
          <p className="sold-out" id={dishId(dish.name)} tabIndex={-1}>
            {words.soldOut}
          </p>
        ) : (
          actions?.(dish)
        )}
      </div>
    </li>
  );
}

/** Adds a dish, or opens its sheet where something has to be chosen. */
export function Adding({ dish, order }: { dish: Dish; order: Order | null }) {
  const words = useTexts().card;
  const { edit } = usePage();
  const open = order !== null && canOrder(order);
  const at = `dish ${dish.name}`;
  return (
    <>
      {isSimple(dish) ? (
        <button
          type="button"
          id={dishId(dish.name)}
          className="button"
          aria-disabled={!open}
          onClick={() => open && void edit(at, { op: "add_item", name: dish.name, quantity: 1 })}
        >
          {words.add}
          <span className="unseen"> {dish.name}</span>
        </button>
      ) : (
        <a
          className="button"
          id={dishId(dish.name)}
          href={addressOf({ at: "dish", name: dish.name })}
        >
          {words.choose}
          <span className="unseen"> {dish.name}</span>
        </a>
      )}
      <Refused place={at} />
    </>
  );
}

export function dishId(name: string): string {
  return `dish-${name.replaceAll(/[^a-zA-Z0-9]+/g, "-")}`;
}

function wordsOf(description: string | null): string[] {
  return description ? description.toLowerCase().split(/[.,]\s*|\band\b/) : [];
}

/** The price, or that of each size; sizes stay as on the menu. */
function Prices({ dish, currency }: { dish: Dish; currency: string }) {
  const sizes = Object.entries(dish.sizes);
  if (sizes.length === 1) return money(sizes[0]?.[1] ?? 0, currency);
  return sizes.map(([size, price], place) => (
    <Fragment key={size}>
      {place > 0 && ", "}
      <span lang="en">{size}</span> {money(price, currency)}
    </Fragment>
  ));
}

export function factsText(dish: Dish, texts: Texts): string {
  const words = texts.card;
  const parts = [];
  const diets = dish.diets.map((diet) => words.diet[diet] ?? diet);
  if (diets.length > 0) parts.push(`${capital(diets.join(", "))}.`);
  if (dish.allergens.length > 0)
    parts.push(words.holds(allergenText(dish.allergens, words.allergens)));
  if (dish.minimum_age) parts.push(words.age(dish.minimum_age));
  return parts.join(" ");
}

function servedText(served: Dish["served"], texts: Texts): string {
  const words = texts.card;
  const times = served.map((each) => {
    const days = each.days.map((day) => words.days[day] ?? day);
    const span = days.length > 2 ? `${days[0]}–${days.at(-1)}` : days.join(", ");
    return [span, each.hours.map((hours) => hoursText(hours, texts.code)).join(", ")]
      .filter(Boolean)
      .join(" ");
  });
  return words.served(times.join("; "));
}
