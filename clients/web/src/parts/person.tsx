/** Asks for a member of staff. */

import type { Order } from "@bella-vista/client";
import { type FormEvent, useId, useState } from "react";
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
  const send = async (event: FormEvent) => {
    event.preventDefault();
    const said = reason.trim() || "asked for on the page";
    await edit("person", { op: "call_person", reason: said });
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
      {order?.person_wanted ? (
        <p role="status">{texts.personSent}</p>
      ) : over ? (
        <p>{texts.personOver}</p>
      ) : (
        <form className="form" onSubmit={send}>
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
          <button type="submit" className="button main">
            {texts.personSend}
          </button>
        </form>
      )}
      <Refused place="person" />
    </Panel>
  );
}
