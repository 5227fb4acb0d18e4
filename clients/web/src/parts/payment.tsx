/** Tip and payment, once the order was read back. The card itself is never asked for. */

import type { Order } from "@bella-vista/client";
import { type FormEvent, useId, useState } from "react";
import { useHouse } from "../model/menu";
import { handover } from "../model/order";
import { usePage } from "../model/page";
import { money } from "../model/words";
import { useTexts } from "../texts";
import { Refused } from "./refused";
import "../styles/payment.css";

export function Payment({ order }: { order: Order }) {
  const texts = useTexts();
  const { edit } = usePage();
  const { payment_methods, tips, tip_base } = useHouse();
  const words = texts.pay;
  const id = useId();
  const [other, setOther] = useState("");
  const [asking, setAsking] = useState(false);
  const chosen = order.tip_percentage;
  const offered = [0, ...tips];
  // A tip that was said as an amount has no percentage.
  const own = chosen === null ? order.tip > 0 : !offered.includes(chosen);
  const way = order.fulfilment ? handover(order) : "none";
  const base = tip_base === "subtotal" ? order.subtotal : order.total - order.tip;
  const tipOf = (percentage: number) => void edit("payment", { op: "set_tip", percentage });
  const keepOther = (event: FormEvent) => {
    event.preventDefault();
    const percentage = Number(other.replace(",", "."));
    if (other.trim() && Number.isFinite(percentage)) {
      tipOf(percentage);
      setAsking(false);
    }
  };
  return (
    <div className="payment">
      <fieldset>
        <legend>
          <h2>{words.tip}</h2>
        </legend>
        <div className="tips">
          {offered.map((percentage) => (
            <label className="pick" key={percentage}>
              <input
                type="radio"
                name={`${id}-tip`}
                checked={chosen === percentage && !asking}
                onChange={() => {
                  setAsking(false);
                  tipOf(percentage);
                }}
              />
              <b>{percentage === 0 ? words.none : `${percentage} %`}</b>
              {percentage > 0 && (
                <span className="amount">
                  {chosen === percentage
                    ? order.display.tip
                    : money(Math.round((base * percentage) / 100), order.currency)}
                </span>
              )}
            </label>
          ))}
          <label className="pick">
            <input
              type="radio"
              name={`${id}-tip`}
              checked={asking || own}
              onChange={() => setAsking(true)}
            />
            <b>{own && !asking && chosen !== null ? `${chosen} %` : words.other}</b>
            {own && !asking && <span className="amount">{order.display.tip}</span>}
          </label>
        </div>
      </fieldset>
      {asking && (
        <form className="row" onSubmit={keepOther}>
          <label htmlFor={`${id}-other`} className="label">
            {words.otherLabel}
          </label>
          <input
            id={`${id}-other`}
            className="field"
            inputMode="decimal"
            value={other}
            onChange={(event) => setOther(event.target.value)}
          />
          <button type="submit" className="button">
            {texts.save}
          </button>
        </form>
      )}
      <fieldset>
        <legend>
          <h2>{words.at[way]}</h2>
        </legend>
        <div className="methods">
          {(["card", "cash"] as const)
            .filter((each) => payment_methods.includes(each))
            .map((method) => (
              <label className="pick" key={method}>
                <input
                  type="radio"
                  name={`${id}-method`}
                  checked={order.payment_method === method}
                  onChange={() => void edit("payment", { op: "choose_payment", method })}
                />
                <b>{words[method]}</b>
              </label>
            ))}
        </div>
        {payment_methods.includes("card") && <p className="fine">{words.noCard}</p>}
      </fieldset>
      <Refused place="payment" />
    </div>
  );
}
