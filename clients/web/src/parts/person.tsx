/** Asks for a member of staff. */

import type { Order } from "@bella-vista/client";
import { type FormEvent, useId, useState } from "react";
import { canOrder } from "../model/order";
import { useNow, usePage } from "../model/page";
import { useTexts } from "../texts";
import { Icon } from "./icons";
import { Panel } from "./panel";
import { Refused } from "./refused";

export function Person({ order }: { order: Order | null }) {
  const texts = useTexts();
  const { edit } = usePage();
  const over = useNow().status === "ended";
  const id = useId();
  const [reason, setReason] = useState("");
  const [phone, setPhone] = useState("");
  const asked = order?.person_wanted === true;
  // Without a number or an address nobody can get in touch.
  const unreachable = order !== null && canOrder(order) && !order.phone && !order.email;
  const send = async (event: FormEvent) => {
    event.preventDefault();
    const said = reason.trim() || "asked for on the page";
    await edit(
      "person",
      ...(unreachable ? [{ op: "set_customer", phone: phone.trim() } as const] : []),
      ...(asked ? [] : [{ op: "call_person", reason: said } as const]),
    );
  };
  const button = (
    <>
      <Icon name="hand" />
      <span className="wordy">{texts.person}</span>
      <span className="short">{texts.personShort}</span>
    </>
  );
  return (
    <Panel button={button} title={texts.person}>
      {asked && <p role="status">{unreachable ? texts.personAsked : texts.personSent}</p>}
      {over && !asked && <p>{texts.personOver}</p>}
      {!over && (!asked || unreachable) && (
        <form className="form" onSubmit={send}>
          {!asked && (
            <div>
              <label htmlFor={id} className="label">
                {texts.personReason}
              </label>
              <input
                id={id}
                className="field"
                value={reason}
                maxLength={280}
                onChange={(event) => setReason(event.target.value)}
              />
            </div>
          )}
          {unreachable && (
            <div>
              <label htmlFor={`${id}-phone`} className="label">
                {texts.personPhone}
              </label>
              <input
                id={`${id}-phone`}
                className="field"
                type="tel"
                autoComplete="tel"
                required
                value={phone}
                maxLength={80}
                onChange={(event) => setPhone(event.target.value)}
              />
            </div>
          )}
          <button type="submit" className="button main">
            {asked ? texts.save : texts.personSend}
          </button>
        </form>
      )}
      <Refused place="person" />
    </Panel>
  );
}
