/** The agents on a wire: who is with the guest now, and who just handed over. */

import { useCourse, useNow } from "../model/page";
import { humanised } from "../model/words";
import { type Texts, useTexts } from "../texts";
import { Icon, type IconName } from "./icons";
import "../styles/agents.css";

const ALWAYS = ["greeter", "order_taker", "payment", "feedback"];
const SIGNS: Record<string, IconName> = {
  greeter: "bell",
  order_taker: "pencil",
  payment: "coins",
  feedback: "star",
};

/** The name of an agent; one that the page has no word for keeps its own. */
export function agentName(agent: string, texts: Texts): string {
  return texts.agents[agent] ?? humanised(agent);
}

/** The name of an agent within a sentence. */
export function theAgent(agent: string, texts: Texts): string {
  return texts.theAgent[agent] ?? humanised(agent);
}

/** The class that gives an agent's colour. */
export function colourOf(agent: string): string {
  return ALWAYS.includes(agent) ? `of-${agent}` : "of-other";
}

export function Agents() {
  const texts = useTexts();
  const now = useNow();
  const { handoff } = useCourse();
  const active = now.activeAgent;
  // An agent the page does not know stands on the wire while it is active.
  const known = active === null || ALWAYS.includes(active);
  const shown = known ? ALWAYS : [...ALWAYS, active];
  const held = now.status === "reconnecting";
  const gave = handoff ? shown.indexOf(handoff.from) : -1;
  const took = handoff ? shown.indexOf(handoff.to) : -1;
  return (
    <ol
      className="agents"
      aria-label={texts.agents.label}
      style={{ "--count": shown.length } as object}
    >
      {shown.map((agent, place) => {
        const here = agent === active;
        const between = handoff && place >= Math.min(gave, took) && place < Math.max(gave, took);
        const state = !here
          ? null
          : held
            ? texts.agents.onHold
            : handoff?.to === agent
              ? texts.agents.tookOver
              : texts.agents.withYou;
        return (
          <li
            key={agent}
            className={`${colourOf(agent)}${between ? " between" : ""}`}
            aria-current={here || undefined}
          >
            <span className="sign-of">
              <Icon name={SIGNS[agent] ?? "person"} />
            </span>
            <span className="name">{agentName(agent, texts)}</span>
            {state && <small>{state}</small>}
          </li>
        );
      })}
    </ol>
  );
}
