/** The order of the last visit, one tap away. */

import type { Command, Order } from "@bella-vista/client";
import { AppError, type Hello } from "@typed-handoffs/client";
import { useState } from "react";
import { details } from "../model/changes";
import { useOneAtATime } from "../model/hooks";
import { usePage } from "../model/page";
import { useTexts } from "../texts";
import { reasonOf } from "./refused";

type AddItem = Extract<Command, { op: "add_item" }>;

/** Offers it while nothing is ordered; says afterwards what of it could not be ordered again, and why. */
export function LastOrder({ hello, order }: { hello: Hello | null; order: Order }) {
  const texts = useTexts();
  const { session } = usePage();
  const [busy, oneAtATime] = useOneAtATime();
  const [lost, setLost] = useState<readonly (readonly [AddItem, AppError])[]>([]);
  const last = hello?.last_order;
  if (!Array.isArray(last) || last.length === 0) return null;
  const items = last.filter((each): each is AddItem => each?.op === "add_item");
  const start = async () => {
    const refused: [AddItem, AppError][] = [];
    for (const item of items) {
      try {
        await session.apply(item);
      } catch (error) {
        refused.push([item, AppError.from(error)]);
      }
    }
    setLost(refused);
  };
  const told = lost.map(([item, error], place) => {
    const reason = reasonOf(error, texts);
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: they never move
      <p key={place} className="refused" role="alert">
        {reason.startsWith(item.name) ? reason : `${item.name}: ${reason}`}
      </p>
    );
  });
  if (order.item_count > 0) return told;
  return (
    <section className="last-order" aria-labelledby="last-order">
      <h2 id="last-order">{texts.ticket.same}</h2>
      <ul lang="en">
        {items.map((item, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they never move
          <li key={place}>
            {item.quantity ?? 1} × {item.name}
            <span className="fine"> {details(whole(item))}</span>
          </li>
        ))}
      </ul>
      {told}
      <button
        type="button"
        className="button"
        aria-disabled={busy}
        onClick={() => void oneAtATime(start)}
      >
        {texts.ticket.sameAdd}
      </button>
    </section>
  );
}

/** The choices of an item; of a combo, those of each of its dishes. */
function whole({ size, modifications, parts }: AddItem) {
  const chosen = (of: { size?: string | null; modifications?: readonly string[] }) => ({
    size: of.size ?? null,
    modifications: [...(of.modifications ?? [])],
  });
  return {
    ...chosen({ size, modifications }),
    parts: (parts ?? []).map((part) => ({ name: part.name, ...chosen(part) })),
  };
}
