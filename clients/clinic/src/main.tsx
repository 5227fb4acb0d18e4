/** The patient's page: the talk with the front desk, and the visit beside it. */

import { AgentSession, type App, Call, notIn } from "@typed-handoffs/client";
import { callRoom, roomTransport } from "@typed-handoffs/client/livekit";
import { AgentSessionProvider, useCall, useSnapshot } from "@typed-handoffs/react";
import { Room } from "livekit-client";
import { useEffect, useRef, useState } from "react";
import { createRoot } from "react-dom/client";
import { type Command, KNOWN, NOUN, type SetReason, type State } from "./contract.gen";

const clinic: App<State, Command> = {
  noun: NOUN,
  optimistic: (visit, command) =>
    command.op === "set_reason" ? { ...visit, reason: command.reason } : null,
  unknownIn: notIn(KNOWN),
  empty: KNOWN.empty,
};
const room = new Room();
const call = new Call(callRoom(room), "");
const session = new AgentSession(roomTransport(room, { call }), clinic, {
  bringAgent: call.bringAgent,
});
const ANSWERS: Record<string, string[]> = { yes_no: ["Yes", "No"], rating: [..."12345"] };
/** A word of the contract for people. */
const named = (word: string) => word.charAt(0).toUpperCase() + word.slice(1).replaceAll("_", " ");
/** A time as it is at the clinic, wherever the patient is. */
const shown = (time: string) =>
  new Date(time.slice(0, 19)).toLocaleString("en-US", { dateStyle: "full", timeStyle: "short" });
/** Whose turn it is, or why there is no turn. */
function useNow(): string {
  const { status, turn, activeAgent } = useSnapshot();
  const { status: connection, fault } = useCall(call);
  if (fault === "elsewhere") return "This call goes on in another window.";
  if (connection === "lost" || status === "failed") return "No one answers. Reload to try again.";
  if (status === "ended") return "The call is over. Write to start another.";
  if (status !== "ready" || !activeAgent) return "Calling the front desk …";
  return turn?.yours ? "It is your turn." : `${named(activeAgent)} is speaking.`;
}

function Talk() {
  const { lines, turn } = useSnapshot();
  const [words, setWords] = useState("");
  const end = useRef<HTMLFormElement>(null);
  useEffect(() => void end.current?.querySelector("input")?.focus(), []);
  useEffect(() => void end.current?.scrollIntoView(lines && { block: "end" }), [lines]);
  const say = (text: string) => {
    setWords("");
    session.say(text).catch(() => setWords((newer) => newer || text));
  };
  return (
    <main>
      <h1>Maple Street Dental</h1>
      <div role="log">
        {lines.map(({ id, agent, text }) => (
          <p key={id}>
            <b>{agent ? named(agent) : "You"}:</b> {text}
          </p>
        ))}
      </div>
      <form ref={end} action={() => say(words)}>
        <p role="status">{useNow()}</p>
        {turn?.yours &&
          (turn.choices ?? ANSWERS[turn.expects])?.map((answer) => (
            <button type="button" key={answer} onClick={() => say(answer)}>
              {answer}
            </button>
          ))}
        <label>
          Your words{" "}
          <input required value={words} onChange={(event) => setWords(event.target.value)} />
        </label>{" "}
        <button type="submit">Send</button>
      </form>
    </main>
  );
}

function Visit() {
  const { state: visit, lastError } = useSnapshot<State>();
  if (!visit) return null;
  const { patient, reason, plan, wanted, slot, rating } = visit;
  const known = [patient?.name, patient?.phone, plan, wanted && `Chosen: ${shown(wanted)}`];
  if (slot) known.push(`Booked: ${shown(slot)}`);
  if (rating) known.push(`${rating} of 5 stars`);
  const choose = (chosen: string) =>
    session.apply({ op: "set_reason", reason: chosen as SetReason["reason"] });
  return (
    <aside>
      <h2>Your visit: {named(visit.stage)}</h2>
      <label htmlFor="reason">Reason</label>{" "}
      <select id="reason" value={reason ?? ""} onChange={(event) => choose(event.target.value)}>
        {["", ...KNOWN.values.reason].map((one) => (
          <option key={one} value={one} disabled={!one}>
            {named(one)}
          </option>
        ))}
      </select>
      <ul>{known.map((fact) => fact && <li key={fact}>{fact}</li>)}</ul>
      {lastError && <p role="alert">{lastError.detail}</p>}
    </aside>
  );
}

function Page() {
  if (useCall(call).status === "out")
    return (
      <main>
        <h1>Maple Street Dental</h1>
        <button type="button" onClick={() => void call.join()}>
          Talk to Maple Street Dental
        </button>
      </main>
    );
  return (
    <AgentSessionProvider session={session}>
      <Talk />
      <Visit />
    </AgentSessionProvider>
  );
}

call.subscribe(() => history.replaceState("in call", ""));
if (history.state === "in call") void call.join(); // the page was reloaded
createRoot(document.body).render(<Page />);
