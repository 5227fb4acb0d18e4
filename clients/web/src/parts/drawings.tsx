/** Flat drawings of dishes, the outline printed a little off. They are made from the menu's words. */

import type { ReactNode } from "react";

/** The same numbers every time for the same word: a dish always looks alike. */
function scatter(
  seed: string,
  count: number,
  spread: number,
): { x: number; y: number; turn: number }[] {
  let state = 7;
  for (const letter of seed) state = (state * 31 + letter.charCodeAt(0)) % 99991;
  const next = () => {
    state = (state * 48271 + 11) % 2147483647;
    return state / 2147483647;
  };
  const start = next() * 6.28;
  return Array.from({ length: count }, (_, place) => {
    const distance = spread * Math.sqrt((place + 0.6) / count);
    const angle = start + place * 2.39996 + next() * 0.5;
    return {
      x: 60 + distance * Math.cos(angle),
      y: 60 + distance * Math.sin(angle),
      turn: Math.round(next() * 360),
    };
  });
}

type Draw = (key: string, x: number, y: number, turn: number) => ReactNode;

const at = (x: number, y: number, turn: number) =>
  `translate(${x.toFixed(1)} ${y.toFixed(1)}) rotate(${turn})`;

const blob =
  (fill: string, shade: string, size: number): Draw =>
  (key, x, y, turn) => (
    // No two pieces are of one size.
    <g key={key} transform={`${at(x, y, turn)} scale(${0.75 + (turn % 7) * 0.08})`}>
      <path
        fill={fill}
        d={`M${-size} 1C${-size} ${-size * 0.9} ${size * 0.4} ${-size * 1.1} ${size} ${-size * 0.3}C${size * 1.1} ${size * 0.6} ${size * 0.2} ${size} ${-size * 0.5} ${size * 0.8}C${-size * 0.9} ${size * 0.6} ${-size} ${size * 0.4} ${-size} 1z`}
      />
      <path
        fill="none"
        stroke={shade}
        strokeWidth="1.6"
        strokeLinecap="round"
        d={`M${-size * 0.5} ${size * 0.4}q${size * 0.7} ${size * 0.3} ${size} ${-size * 0.5}`}
      />
    </g>
  );

const leaf: Draw = (key, x, y, turn) => (
  <g key={key} transform={at(x, y, turn)}>
    <path fill="#1f6b3c" d="M-9 0C-5-6 4-6 10 0 4 6-5 6-9 0z" />
    <path stroke="#c9e8b8" strokeWidth="1.2" d="M-7 0H7" />
  </g>
);

const disc =
  (fill: string, dots: string): Draw =>
  (key, x, y, turn) => (
    <g key={key} transform={at(x, y, turn)}>
      <circle r="7" fill={fill} />
      <circle cx="-2" cy="-2" r="1.3" fill={dots} />
      <circle cx="3" cy="0" r="1.1" fill={dots} />
      <circle cx="-1" cy="3" r="1.1" fill={dots} />
    </g>
  );

const ring =
  (stroke: string): Draw =>
  (key, x, y) => (
    <circle key={key} cx={x} cy={y} r="3.6" fill="none" stroke={stroke} strokeWidth="3" />
  );

const slice =
  (stroke: string): Draw =>
  (key, x, y, turn) => (
    <path
      key={key}
      transform={at(x, y, turn)}
      d="M-6 0q3-6 8-4 3 1 4 4"
      fill="none"
      stroke={stroke}
      strokeWidth="3"
      strokeLinecap="round"
    />
  );

const mushroom: Draw = (key, x, y, turn) => (
  <g key={key} transform={at(x, y, turn)}>
    <path fill="#f1e2c4" d="M-9 1C-9-9 9-9 9 1 6 3 4 2 3 2v6h-6V2c-1 0-3 1-6-1z" />
    <path d="M-6 0c2-4 10-4 12 0" fill="none" stroke="#8a6a45" strokeWidth="1.6" />
  </g>
);

const crumb =
  (fill: string): Draw =>
  (key, x, y) => <circle key={key} cx={x} cy={y} r="2.3" fill={fill} />;

/** The first words that are found in an ingredient decide how it is drawn, and how often. */
const INGREDIENTS: readonly (readonly [RegExp, Draw, number])[] = [
  [/mozzarella|burrata|ricotta|goat|fontina/, blob("#fff4d6", "#ecd29a", 11), 7],
  [/basil|arugula|rucola|spinach|rabe|friarielli/, leaf, 7],
  [/mushroom|funghi|truffle/, mushroom, 5],
  [/ham|prosciutto|speck|bacon|pancetta/, blob("#f2a7a4", "#cf6f70", 8), 5],
  [/pepperoni|salami|salame|nduja|sausage|salsiccia|meatball/, disc("#b0352b", "#e88a6d"), 7],
  [/olive/, ring("#2f3a2b"), 7],
  [/onion/, ring("#a3588f"), 6],
  [/pepper|chili|chilli|jalape/, slice("#e8a13a"), 6],
  [/zucchini|eggplant|artichoke|broccoli|asparagus|pea/, ring("#5f8f3d"), 6],
  [/pineapple|corn|honey|peach/, slice("#f3cf4c"), 6],
  [/egg\b/, blob("#fffaf0", "#f2b531", 8), 2],
  [/anchov|tuna|shrimp|clam|salmon/, slice("#d98d73"), 6],
  [/gorgonzola/, crumb("#6f8aa5"), 9],
  [/garlic|parmesan|pecorino|parmigiano/, crumb("#f5e6b8"), 9],
  [/oregano|rosemary|herb|parsley|chive/, crumb("#2d6a3a"), 10],
  [/tomatoes|cherry/, crumb("#e5533a"), 8],
];
const OTHER = crumb("#d7b45a");

/** Which part of the pizza an ingredient lies on. */
export interface Topping {
  name: string;
  where: "all" | "half" | "other half";
}

/** A pizza with what lies on it. */
export function Pizza({
  toppings,
  sauce = true,
}: {
  toppings: readonly Topping[];
  sauce?: boolean;
}) {
  const halves = toppings.some((topping) => topping.where !== "all");
  return (
    <svg viewBox="0 0 120 120" aria-hidden="true" className="drawing">
      <circle cx="60" cy="60.8" r="55" fill="#c98434" />
      <circle cx="59.5" cy="59.2" r="54" fill="#eab25a" />
      {scatter("crust", 9, 1).map(({ turn }, place) => (
        <ellipse
          // biome-ignore lint/suspicious/noArrayIndexKey: it never moves
          key={place}
          cx="60"
          cy="9.5"
          rx={2 + (turn % 3) * 0.7}
          ry={1.4 + (turn % 2) * 0.6}
          fill="#8f4f1f"
          opacity=".75"
          transform={`rotate(${place * 40 + (turn % 24)} 60 60)`}
        />
      ))}
      <path
        d="M14 48A48 48 0 0 1 50 12M100 94a50 50 0 0 1-20 14"
        fill="none"
        stroke="#f6cf86"
        strokeWidth="1.6"
        strokeLinecap="round"
      />
      <circle cx="60" cy="60" r="45" fill={sauce ? "#c5331b" : "#eed596"} />
      <circle cx="59" cy="58.5" r="38.500" fill={sauce ? "#d9452a" : "#f4e0ab"} />
      {toppings.map(({ name, where }) => {
        const [, draw, count] = INGREDIENTS.find(([words]) => words.test(name)) ?? [null, OTHER, 8];
        return scatter(name, where === "all" ? count : count + 3, 37).map(
          ({ x, y, turn }, place) => {
            const left = x < 60;
            if (where === "half" && !left) return null;
            if (where === "other half" && left) return null;
            return draw(`${name}${place}`, x, y, turn);
          },
        );
      })}
      {halves && <path d="M60 17v86" stroke="#fff" strokeWidth="1.6" strokeDasharray="4 4" />}
      <path className="drawn-line" d="M96 16.5A54.500 54.500 0 1 0 114 49M108 32a54 54 0 0 0-5-8" />
    </svg>
  );
}

type Kind =
  | "pizza"
  | "bowl"
  | "soup"
  | "plate"
  | "bread"
  | "cup"
  | "glass"
  | "wine"
  | "cake"
  | "jar"
  | "box";

/** By whole words: there is no tea in a steak, and no latte on a platter. */
const KINDS: readonly (readonly [RegExp, Kind])[] = [
  [/\b(?:pizza night|family|lunch for|combos?|together)\b/, "box"],
  [/\b(?:jar|oil|pantry|dough)\b/, "jar"],
  [/\b(?:pizzas?|calzone)\b/, "pizza"],
  [/\b(?:soups?|minestrone)\b/, "soup"],
  [/bread\b|\b(?:knots|bruschetta|panin[io]|subs?|focaccia)\b/, "bread"],
  [/\b(?:salads?|caprese|fruit)\b/, "bowl"],
  [/\b(?:iced|lemonade)\b/, "glass"],
  [/\b(?:coffees?|teas?|espresso|cappuccino|latte)\b|chocolate$/, "cup"],
  [
    /\b(?:wines?|prosecco|spritz|negroni|limoncello|chianti|beers?|ipa|peroni|cocktails?)\b/,
    "wine",
  ],
  [/\b(?:drinks?|cola|sodas?|waters?|juices?)\b/, "glass"],
  [/cakes?\b|\b(?:desserts?|tiramisu|cotta|cannoli|gelato|affogato)\b/, "cake"],
];

/** What a dish is by what its name and section say; a plate when they say nothing. */
export function kindOf(name: string, section: string): Kind {
  const known = (words: string) => KINDS.find(([each]) => each.test(words.toLowerCase()))?.[1];
  return known(name) ?? known(section) ?? "plate";
}

/** A dish drawn as what it is. */
export function Drawing({
  name,
  section = "",
  holds = [],
}: {
  name: string;
  section?: string;
  holds?: readonly string[];
}) {
  const words = name.toLowerCase();
  const kind = kindOf(name, section);
  if (kind === "pizza") {
    return (
      <Pizza
        sauce={!/formaggi|bianca|tartufo|white/.test(words)}
        toppings={holds
          .filter((each) => !/sauce|tomato$/.test(each))
          .map((each) => ({ name: each, where: "all" }))}
      />
    );
  }
  return (
    <svg viewBox="0 0 120 120" aria-hidden="true" className="drawing">
      {SHAPES[kind](words)}
    </svg>
  );
}

/** The food on a plate or in a bowl: some pieces in the colours of the words. */
function heap(words: string, count: number, spread: number): ReactNode {
  const draws = INGREDIENTS.filter(([known]) => known.test(words)).map(([, draw]) => draw);
  const pieces = draws.length > 0 ? draws : [blob("#e9b55c", "#b97f2f", 9), leaf];
  return scatter(words, count, spread).map(({ x, y, turn }, place) =>
    pieces[place % pieces.length]?.(`p${place}`, x, y, turn),
  );
}

const plate = (rim: string) => (
  <>
    <circle cx="60" cy="61" r="54" fill="#cfd6cb" />
    <circle cx="60" cy="59" r="53" fill="#fffdf6" />
    <circle cx="60" cy="59" r="38" fill={rim} />
  </>
);
const outline = <path className="drawn-line" d="M97 16A54 54 0 1 0 114 48" />;

const SHAPES: Record<Exclude<Kind, "pizza">, (words: string) => ReactNode> = {
  plate: (words) => (
    <>
      {plate("#f3ead2")}
      {/spaghetti|penne|fettuccine|tagliatelle|pasta|cacio|gnocchi|ravioli|vongole/.test(words)
        ? [22, 16, 10].map((radius, place) => (
            <circle
              key={radius}
              cx={58 + place * 2}
              cy={60 - place}
              r={radius}
              fill={place === 0 ? "#f2cf7c" : "none"}
              stroke="#d9a441"
              strokeWidth="3"
            />
          ))
        : null}
      {heap(words, 7, 24)}
      {outline}
    </>
  ),
  bowl: (words) => (
    <>
      {plate("#5f8f3d")}
      {scatter(`${words} leaves`, 9, 30).map(({ x, y, turn }, place) =>
        leaf(`l${place}`, x, y, turn),
      )}
      {heap(words, 6, 26)}
      {outline}
    </>
  ),
  soup: (words) => (
    <>
      {plate("#d8803a")}
      <circle cx="58" cy="57" r="33" fill="#e2954a" />
      {heap(words, 6, 22)}
      {outline}
    </>
  ),
  bread: (words) => (
    <>
      {plate("#f3ead2")}
      <path fill="#d99b46" d="M28 62c0-16 14-24 33-24s32 7 32 22-12 22-33 22-32-6-32-20z" />
      <path fill="#efc27a" d="M32 58c0-12 13-17 29-17s26 5 26 15-10 14-27 14-28-3-28-12z" />
      <path
        d="M45 50l6 10M57 47l6 12M69 48l5 10"
        stroke="#a9682a"
        strokeWidth="3"
        strokeLinecap="round"
      />
      {/garlic|basil|caprese|herb/.test(words) && heap("basil", 3, 16)}
      {outline}
    </>
  ),
  cup: (words) => (
    <>
      <ellipse cx="60" cy="92" rx="44" ry="12" fill="#cfd6cb" />
      <ellipse cx="60" cy="89" rx="43" ry="11" fill="#fffdf6" />
      <path d="M84 48h8a12 12 0 0 1 0 24h-10" fill="none" stroke="#fffdf6" strokeWidth="6" />
      <path fill="#fffdf6" d="M30 42h56v22c0 16-10 24-28 24S30 80 30 64z" />
      <ellipse
        cx="58"
        cy="42"
        rx="28"
        ry="8"
        fill={/\btea\b/.test(words) ? "#c98434" : "#5b3520"}
      />
      <ellipse
        cx="56"
        cy="42"
        rx="14"
        ry="3.5"
        fill={/\btea\b|americano|espresso/.test(words) ? "#8a5a33" : "#efdcbc"}
      />
      <path className="drawn-line" d="M28 40v24c0 14 9 24 26 25M50 28q-4-6 0-11M64 28q-4-6 0-11" />
    </>
  ),
  glass: (words) => (
    <>
      <path fill="#dfe9e4" d="M36 22h48l-6 76c-1 4-4 6-8 6H50c-4 0-7-2-8-6z" />
      <path
        fill={
          /cola/.test(words)
            ? "#5b2a1c"
            : /orange/.test(words)
              ? "#f09a3e"
              : /lemon/.test(words)
                ? "#f3dc6b"
                : /\btea\b/.test(words)
                  ? "#c98434"
                  : "#bcd9e2"
        }
        d="M38 40h44l-5 57c0 3-3 5-6 5H49c-3 0-6-2-6-5z"
      />
      <path fill="#fff" opacity=".5" d="M48 50h10v10H48zM62 64h9v9h-9z" />
      <path d="M70 10l-8 50" stroke="#b02a18" strokeWidth="4" />
      <path className="drawn-line" d="M34 20h48l-6 76c-1 5-4 7-8 7" />
    </>
  ),
  wine: (words) => (
    <>
      <path fill="#dfe9e4" d="M38 16h44c4 24-2 44-20 46v34h14v8H44v-8h14V62C40 60 34 40 38 16z" />
      <path
        fill={
          /red|chianti|negroni/.test(words)
            ? "#8a1f35"
            : /spritz/.test(words)
              ? "#ee7b3a"
              : /beer|ipa|peroni/.test(words)
                ? "#e0a83c"
                : "#eed98c"
        }
        d="M38 32h44c0 16-6 27-22 27S38 48 38 32z"
      />
      <path className="drawn-line" d="M36 14h44c4 24-2 44-20 47v34h14" />
    </>
  ),
  cake: (words) => (
    <>
      {plate("#f3ead2")}
      <path fill="#8a5a33" d="M28 78l58-6V54l-58-8z" />
      <path fill="#fff4d6" d="M28 68l58-6v-8l-58-6z" />
      <path
        fill={/chocolate|tiramisu/.test(words) ? "#5b3520" : "#e9b55c"}
        d="M28 46l34-16 24 22-58-4z"
      />
      {heap(/fruit|peach/.test(words) ? "cherry" : "herb", 3, 12)}
      {outline}
    </>
  ),
  jar: () => (
    <>
      <path fill="#cfd6cb" d="M42 14h36v12H42z" />
      <path
        fill="#dfe9e4"
        d="M40 26h40c8 8 10 14 10 24v46c0 6-4 10-10 10H40c-6 0-10-4-10-10V50c0-10 2-16 10-24z"
      />
      <path fill="#c5331b" d="M32 52h56v42c0 6-3 9-9 9H41c-6 0-9-3-9-9z" />
      <path fill="#fffdf6" d="M38 62h44v24H38z" />
      <path
        className="drawn-line"
        d="M38 24c-8 8-10 14-10 24v46c0 6 4 10 10 10h12M47 70h26M47 77h18"
      />
    </>
  ),
  box: () => (
    <>
      <path fill="#fffdf6" d="M14 44l46-18 46 18-46 20z" />
      <path fill="#e3d9bd" d="M14 44v36l46 22V64z" />
      <path fill="#cfc29c" d="M106 44v36l-46 22V64z" />
      <ellipse cx="60" cy="45" rx="22" ry="9" fill="#d9452a" />
      <ellipse cx="60" cy="45" rx="22" ry="9" fill="none" stroke="#eab25a" strokeWidth="4" />
      <path className="drawn-line" d="M12 42l46-18 46 18M12 42v36l46 22" />
    </>
  ),
};
