/** The order of the last visit, one tap away. */

import type { Command } from "@bella-vista/client";
import type { Hello } from "@typed-handoffs/client";
import { details } from "../model/changes";
import { useOneAtATime } from "../model/hooks";
import { usePage } from "../model/page";
import { useTexts } from "../texts";
import { Refused } from "./refused";

type AddItem = Extract<Command, { op: "add_item" }>;

export function LastOrder({ hello }: { hello: Hello | null }) {
  const texts = useTexts();
  const { edit } = usePage();
  const [busy, oneAtATime] = useOneAtATime();
  const last = hello?.last_order;
  if (!Array.isArray(last) || last.length === 0) return null;
  const items = last.filter((each): each is AddItem => each?.op === "add_item");
  return (
    <section className="last-order" aria-labelledby="last-order">
      <h2 id="last-order">{texts.ticket.same}</h2>
      <ul lang="en">
        {items.map((item, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they never move
          <li key={place}>
            {item.quantity ?? 1} × {item.name}
            <span className="fine">
              {" "}
              {details({
                size: item.size ?? null,
                modifications: item.modifications ?? [],
                parts: [],
              })}
            </span>
          </li>
        ))}
      </ul>
      <Refused place="last order" />
      <button
        type="button"
        className="button"
        aria-disabled={busy}
        onClick={() => void oneAtATime(() => edit("last order", ...items))}
      >
        {texts.ticket.sameAdd}
      </button>
    </section>
  );
}
