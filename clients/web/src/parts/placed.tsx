/** After placing: the number, when it is ready, how far it is. In a call, and when there is none any more. */

import type { Order } from "@bella-vista/client";
import { useEffect, useRef, useState } from "react";
import { useHouse } from "../model/menu";
import { cameToNothing, handover, presentOf } from "../model/order";
import { clock, dayText, humanised } from "../model/words";
import { type Texts, useTexts } from "../texts";
import { Ring } from "./house";
import { Icon, type IconName } from "./icons";
import "../styles/placed.css";

const STEPS: readonly (readonly [string, IconName])[] = [
  ["placed", "slip"],
  ["accepted", "check"],
  ["preparing", "oven"],
  ["ready", "box"],
  ["completed", "door"],
];

const BY_THE_GUEST: ReadonlySet<string> = new Set([
  ...["open", "review", "confirmed", "placed", "cancelled"],
]);

/** How far an order is, when it is ready, and why it was refused. */
function stageText(order: Order, texts: Texts): string {
  const words = texts.placed;
  const parts = [words.stage[order.stage] ?? `${humanised(order.stage)}.`];
  const readyAt = order.fulfilment?.ready_at;
  const waits = STEPS.slice(0, 3).some(([stage]) => stage === order.stage);
  if (readyAt && waits) {
    const day = dayText(readyAt, presentOf(order, readyAt), texts.code);
    parts.push(words.readyAt(clock(readyAt, texts.code), day));
  }
  if (order.ended_reason) parts.push(words.why(order.ended_reason));
  return parts.join(" ");
}

/**
 * Tells a screen reader each step that staff take; one that is lost at once. What guests do themselves is told with
 * the changes of the ticket.
 */
export function StageAnnouncer({ order }: { order: Order | null }) {
  const texts = useTexts();
  const last = useRef(order);
  const [told, setTold] = useState({ text: "", lost: false });
  useEffect(() => {
    const before = last.current;
    last.current = order;
    if (!order || before?.order_id !== order.order_id || before.stage === order.stage) return;
    if (BY_THE_GUEST.has(order.stage)) return;
    const text = `${texts.placed.number(order.order_number)}. ${stageText(order, texts)}`;
    setTold({ text, lost: cameToNothing(order) });
  }, [order, texts]);
  return (
    <>
      <p role="status" className="unseen">
        {told.lost ? "" : told.text}
      </p>
      <p role="alert" className="unseen">
        {told.lost ? told.text : ""}
      </p>
    </>
  );
}

export function Placed({ order }: { order: Order }) {
  const texts = useTexts();
  const words = texts.placed;
  const { address } = useHouse();
  const here = STEPS.findIndex(([stage]) => stage === order.stage);
  const times = order.stage_times;
  return (
    <section className="placed" aria-labelledby="placed-number">
      <h2 id="placed-number">{words.number(order.order_number)}</h2>
      <p className="lead">{stageText(order, texts)}</p>
      {here >= 0 && (
        <ol className="track" aria-label={words.track}>
          {STEPS.map(([stage, icon], place) => (
            <li
              key={stage}
              className={place < here ? "past" : undefined}
              aria-current={place === here ? "step" : undefined}
            >
              <span className="step">
                <Icon name={icon} />
              </span>
              <span>
                {words.steps[stage]}
                {place < here && <span className="unseen"> {words.done}</span>}
              </span>
              {times[stage] && <span className="amount">{clock(times[stage], texts.code)}</span>}
            </li>
          ))}
        </ol>
      )}
      {here >= 0 && order.stage !== "completed" && (
        <p className="fine reach">
          {address && handover(order) === "pickup" && <span>{texts.house.pickUp(address)}</span>}{" "}
          <Ring />
        </p>
      )}
    </section>
  );
}

/** An order that came to nothing: called off, or refused by the house, with its reason. */
export function Nothing({ order }: { order: Order }) {
  const words = useTexts().placed;
  return (
    <>
      <p>{words.stage[order.stage]}</p>
      {order.ended_reason && <p>{words.why(order.ended_reason)}</p>}
    </>
  );
}

/** Tells of the orders of earlier calls that came to nothing. */
export function RefusedEarlier({
  orders,
  onSeen,
}: {
  orders: readonly Order[];
  onSeen: (id: string) => void;
}) {
  const texts = useTexts();
  return orders.map((order) => (
    <div className="note" role="alert" key={order.order_id}>
      <h2>{texts.placed.earlier(order.order_number)}</h2>
      <Nothing order={order} />
      <div className="row">
        <button type="button" className="button" onClick={() => onSeen(order.order_id)}>
          {texts.placed.seen}
        </button>
        <Ring />
      </div>
    </div>
  ));
}
