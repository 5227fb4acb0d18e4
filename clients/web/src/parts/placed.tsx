/** After placing: the number, when it is ready, how far it is, and what the guest thinks of it. */

import type { Order } from "@bella-vista/client";
import { type FormEvent, useId, useState } from "react";
import { usePage } from "../model/page";
import { clock, humanised } from "../model/words";
import { useTexts } from "../texts";
import { Icon, type IconName } from "./icons";
import { Refused } from "./refused";
import "../styles/placed.css";

const STEPS: readonly (readonly [string, IconName])[] = [
  ["placed", "slip"],
  ["accepted", "check"],
  ["preparing", "oven"],
  ["ready", "box"],
  ["completed", "door"],
];

export function Placed({ order }: { order: Order }) {
  const texts = useTexts();
  const words = texts.placed;
  const readyAt = order.fulfilment?.ready_at;
  const here = STEPS.findIndex(([stage]) => stage === order.stage);
  const times = order.stage_times;
  return (
    <section className="placed" aria-labelledby="placed-number">
      <h2 id="placed-number">{words.number(order.order_number)}</h2>
      <p className="lead">
        {words.stage[order.stage] ?? `${humanised(order.stage)}.`}
        {readyAt && here >= 0 && here < 3 && ` ${words.readyAt(clock(readyAt, texts.code))}`}
      </p>
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
    </section>
  );
}

/**
 * @param over - The call has ended, and with it the time to rate it.
 */
export function Feedback({ order, over }: { order: Order; over: boolean }) {
  const texts = useTexts();
  const { edit } = usePage();
  const words = texts.placed;
  const id = useId();
  const [comment, setComment] = useState("");
  const rating = order.feedback_rating ?? 0;
  if (over && rating === 0) return null;
  const send = async (event: FormEvent) => {
    event.preventDefault();
    const said = comment.trim();
    if (said && (await edit("feedback", { op: "give_feedback", comment: said }))) setComment("");
  };
  return (
    <div className="feedback">
      <fieldset disabled={over}>
        <legend>
          <h2>{words.howWasIt}</h2>
        </legend>
        <div className="stars">
          {[1, 2, 3, 4, 5].map((count) => (
            <label key={count} className={count <= rating ? "lit" : undefined}>
              <input
                type="radio"
                name={`${id}-stars`}
                checked={count === rating}
                onChange={() => void edit("feedback", { op: "give_feedback", rating: count })}
              />
              <Icon name="star" />
              <span className="unseen">{words.stars[count]}</span>
            </label>
          ))}
        </div>
        <p>{words.stars[rating]}</p>
      </fieldset>
      {!over && (
        <form onSubmit={send}>
          <label className="label" htmlFor={`${id}-comment`}>
            {words.comment} <span className="fine">{texts.optional}</span>
          </label>
          <textarea
            id={`${id}-comment`}
            className="field"
            rows={2}
            maxLength={1000}
            value={comment}
            onChange={(event) => setComment(event.target.value)}
          />
          <button type="submit" className="button">
            {words.send}
          </button>
          {order.feedback_comment && <p className="fine">{words.thanks}</p>}
        </form>
      )}
      <Refused place="feedback" />
    </div>
  );
}
