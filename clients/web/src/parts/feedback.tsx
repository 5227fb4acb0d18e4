/** What the guest thinks of it: stars and a comment. */

import type { Order } from "@bella-vista/client";
import { type FormEvent, useId, useState } from "react";
import { usePage } from "../model/page";
import { useTexts } from "../texts";
import { Icon } from "./icons";
import { Refused } from "./refused";
import "../styles/placed.css";

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
