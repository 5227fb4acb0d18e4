/** The order of the last visit, one tap away. */

import type { Command, Order } from "@bella-vista/client";
import { AppError, type Hello } from "@typed-handoffs/client";
import { useState } from "react";
import { details } from "../model/changes";
import { useOneAtATime } from "../model/hooks";
import { usePage } from "../model/page";
import { allergenText } from "../model/words";
import { useTexts } from "../texts";
import { reasonOf } from "./refused";

type AddAllergy = Extract<Command, { op: "add_allergy" }>;
type AddItem = Extract<Command, { op: "add_item" }>;

/**
 * Offers it while nothing is ordered; says afterwards what of it could not be ordered again, and why.
 *
 * The allergies are noted first: dishes that are added without them would come without a warning.
 */
export function LastOrder({ hello, order }: { hello: Hello | null; order: Order }) {
  const texts = useTexts();
  const { session } = usePage();
  const [busy, oneAtATime] = useOneAtATime();
  const [lost, setLost] = useState<readonly (readonly [string, AppError])[]>([]);
  const last = hello?.last_order;
  if (!Array.isArray(last) || last.length === 0) return null;
  const items = last.filter((each): each is AddItem => each?.op === "add_item");
  const allergies = last.filter((each): each is AddAllergy => each?.op === "add_allergy");
  const named = allergies.map(({ name }) => allergenText([name], texts.card.allergens));
  const applied = async (commands: readonly (AddAllergy | AddItem)[]) => {
    const refused: [string, AppError][] = [];
    for (const command of commands) {
      try {
        await session.apply(command);
      } catch (error) {
        refused.push([command.name, AppError.from(error)]);
      }
    }
    return refused;
  };
  const start = async () => {
    const unnoted = await applied(allergies);
    setLost(unnoted.length > 0 ? unnoted : await applied(items));
  };
  const told = lost.map(([name, error], place) => {
    const reason = reasonOf(error, texts);
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: they never move
      <p key={place} className="refused" role="alert">
        {reason.startsWith(name) ? reason : `${name}: ${reason}`}
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
      {named.length > 0 && (
        <p className="row">
          <b>{texts.ticket.allergies}</b>
          {named.map((name) => (
            <span className="stamp" key={name}>
              {name}
            </span>
          ))}
        </p>
      )}
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
