/**
 * Shows one state of the page, named by `?state=`; `?language=de` for German, `?voice=hold` with a microphone
 * (`open`: an open one; `silent`: and the browser plays no sound yet).
 */

import type { Order } from "@bella-vista/client";
import { RoomContext } from "@livekit/components-react";
import { refused } from "@typed-handoffs/client/testing";
import { Room } from "livekit-client";
import { type ReactNode, useState } from "react";
import { createRoot } from "react-dom/client";
import { keepFocus } from "../src/model/focus";
import { keepPlaced } from "../src/model/last";
import { PageProvider } from "../src/model/page";
import { Boundary } from "../src/parts/boundary";
import { EveningPage } from "../src/parts/evening";
import { House } from "../src/parts/house";
import { Settings } from "../src/parts/settings";
import { Trouble, type TroubleKind } from "../src/parts/trouble";
import { Welcome } from "../src/parts/welcome";
import { languages, TextsContext } from "../src/texts";
import { en } from "../src/texts/en";
import { Microphone, MicrophoneGone } from "../src/voice";
import "../src/styles/tokens.css";
import "../src/styles/base.css";
import { call, type Evening, longer, orders, serveEarlier, serveMenu } from "./room";

const nothing = () => {};
const settings = <Settings onLanguage={nothing} />;

type Play = (evening: Evening) => void | Promise<void>;

let segments = 0;
/** A line of the talk. */
const said = (evening: Evening, agent: string | null, text: string, final = true) => {
  segments += 1;
  evening.room.transcribe({
    segmentId: `S${segments}`,
    from: agent ? "agent" : "user",
    text,
    final,
    attributes: agent ? { active_agent: agent } : {},
  });
};
const agent = (evening: Evening, name: string, state = "listening") => {
  evening.room.activeAgent = name;
  evening.room.attributes({ "bella.active_agent": name, "lk.agent.state": state });
};

const greeting: Play = (evening) => {
  agent(evening, "greeter");
  said(
    evening,
    "greeter",
    "Good evening, welcome to Bella Vista. May I have your name, and what can I get you?",
  );
};
const talk: Play = async (evening) => {
  greeting(evening);
  said(evening, null, "Two large Margheritas without basil, please. And I cannot have tree nuts.");
  agent(evening, "order_taker");
  said(
    evening,
    "order_taker",
    "Two large Margheritas, no basil. I wrote down tree nuts. Anything else?",
  );
  said(evening, null, "A large pizza with ham on one half and mushrooms on the other.");
  said(evening, "order_taker", "Half ham, half mushrooms. And a house salad?");
};

/** Uses what a guest finds on the page, one after the other. */
const used =
  (...selectors: readonly string[]): Play =>
  async (evening) => {
    evening.room.yourTurn();
    for (const selector of selectors) {
      await soon();
      const found = await rendered(selector);
      if (found.matches(".speak"))
        found.dispatchEvent(new KeyboardEvent("keydown", { key: " ", bubbles: true }));
      else found.click();
    }
    await soon();
  };
const soon = () => new Promise((done) => setTimeout(done, 100));
/** Waits for an element: a busy machine takes its time to render the page. */
async function rendered(selector: string): Promise<HTMLElement> {
  const found = document.querySelector<HTMLElement>(selector);
  if (found) return found;
  await soon();
  return rendered(selector);
}

interface State {
  order: Order;
  agent?: string;
  hash?: string;
  house?: object;
  how?: Parameters<typeof call>[1];
  elsewhere?: boolean;
  /** The order of the call before, of which the guest has not heard yet. */
  earlier?: Order;
  soldOut?: readonly string[];
  /** No microphone is left. */
  gone?: boolean;
  /** The agent that is there cannot hear. */
  unheard?: boolean;
  play: Play;
}

const STATES: Record<string, State> = {
  greeting: {
    order: orders.empty,
    agent: "greeter",
    play: (evening) => {
      greeting(evening);
      evening.room.yourTurn({ expects: "name" });
    },
  },
  "your-turn": {
    order: orders.ordering,
    agent: "greeter",
    play: async (evening) => {
      await talk(evening);
      said(evening, null, "Yes, please.");
      said(evening, "order_taker", "Gladly. The house salad: small or large?");
      evening.room.change({ op: "add_item", name: "House salad", size: "small", quantity: 1 });
      evening.room.yourTurn({ expects: "choice", choices: ["small", "large"] });
    },
  },
  long: {
    order: longer(orders.ordering, 30),
    agent: "greeter",
    play: async (evening) => {
      await talk(evening);
      evening.room.yourTurn();
    },
  },
  speaking: {
    order: orders.ordering,
    agent: "greeter",
    play: async (evening) => {
      await talk(evening);
      agent(evening, "order_taker", "speaking");
      said(
        evening,
        "order_taker",
        "Two large Margheritas, no basil. I wrote down tree nuts, so the kitchen will",
        false,
      );
    },
  },
  menu: {
    order: orders.ordering,
    agent: "greeter",
    hash: "#menu",
    play: async (evening) => {
      await talk(evening);
      evening.room.yourTurn();
    },
  },
  sheet: {
    order: orders.ordering,
    agent: "greeter",
    hash: "#menu/Pizza your way",
    play: async (evening) => {
      await talk(evening);
      evening.room.yourTurn();
    },
  },
  combo: {
    order: orders.ordering,
    agent: "greeter",
    hash: "#menu/Family pizza night",
    play: async (evening) => {
      evening.room.yourTurn();
      await rendered(".part"); // the menu comes a moment later
      const more = ".part:first-child .stepper button:last-child";
      for (const button of document.querySelectorAll<HTMLButtonElement>(more)) {
        button.click();
        await soon();
        button.click();
        await soon();
      }
      for (const part of document.querySelectorAll<HTMLDetailsElement>(".part details")) {
        part.open = true;
      }
    },
  },
  review: {
    order: orders.review,
    play: async (evening) => {
      agent(evening, "order_taker");
      said(evening, null, "That is all.");
      said(
        evening,
        "order_taker",
        "So that is two large Margheritas without basil, a large Pizza your way with ham on one half and mushrooms on the other half, and a small House salad. For pickup, ready at 7:20 pm. The total is $72.40. Is that right?",
      );
      await new Promise((done) => setTimeout(done, 100)); // the turn comes a moment after the words
      evening.room.yourTurn({ expects: "yes_no" });
    },
  },
  payment: {
    order: orders.confirmed,
    play: (evening) => {
      agent(evening, "payment");
      said(evening, null, "Card");
      said(
        evening,
        "payment",
        "You pay by card when you get your food. That is $84.37 in all. Shall I place the order?",
      );
      evening.room.yourTurn({ expects: "yes_no" });
    },
  },
  placed: {
    order: { ...orders.placed, stage: "preparing" },
    play: (evening) => {
      agent(evening, "feedback");
      said(evening, "feedback", "Your order is with the kitchen. How was ordering with us?");
      evening.room.yourTurn({ expects: "rating" });
    },
  },
  waiting: {
    order: { ...orders.placed, stage: "accepted" },
    play: (evening) => {
      agent(evening, "feedback");
      said(evening, "feedback", "The kitchen has your order.");
      evening.room.yourTurn();
    },
  },
  failed: {
    order: { ...orders.placed, stage: "failed", ended_reason: "The oven broke." },
    play: (evening) => {
      agent(evening, "feedback");
      said(evening, "feedback", "I am sorry, the restaurant could not take your order.");
      evening.room.yourTurn();
    },
  },
  "refused-earlier": {
    order: orders.ordering,
    earlier: {
      ...orders.placed,
      order_id: "the-one-before",
      stage: "failed",
      ended_reason: "The oven broke.",
    },
    play: (evening) => {
      greeting(evening);
      evening.room.yourTurn();
    },
  },
  "sold-out-line": {
    order: orders.ordering,
    soldOut: ["Margherita"],
    play: (evening) => {
      greeting(evening);
      evening.room.yourTurn();
    },
  },
  over: {
    order: { ...orders.placed, feedback_rating: 5 },
    play: (evening) => {
      agent(evening, "feedback");
      said(evening, "feedback", "Thank you. Good night.");
      evening.room.endCall("agent_ended");
    },
  },
  unplaced: {
    order: orders.confirmed,
    play: (evening) => {
      agent(evening, "payment");
      said(evening, "payment", "Your order is kept, but it is not placed yet. Goodbye!");
      evening.room.endCall("agent_ended");
    },
  },
  newer: {
    order: { ...orders.placed, stage: "on_its_way" as Order["stage"] },
    play: (evening) => {
      agent(evening, "feedback");
      said(evening, "feedback", "Your order is on its way.");
      evening.room.yourTurn();
    },
  },
  dropped: {
    order: orders.ordering,
    agent: "greeter",
    play: async (evening) => {
      await talk(evening);
      evening.room.yourTurn();
      evening.room.connection("reconnecting");
      void evening.session.apply({ op: "change_item", line_id: "L1", quantity: 3 }).catch(nothing);
    },
  },
  refused: {
    order: orders.ordering,
    agent: "greeter",
    hash: "#menu/Tartufo",
    play: used(".pick input", "[type=submit].main"),
  },
  settings: { order: orders.ordering, play: used("header .button[aria-haspopup]:last-of-type") },
  person: { order: orders.ordering, play: used("header .button[aria-haspopup]") },
  way: {
    order: orders.ordering,
    play: used(".ticket .block > button", ".ticket .form label:nth-of-type(2) input"),
  },
  allergy: { order: orders.ordering, play: used(".ticket .block:nth-of-type(2) > button") },
  extras: { order: orders.ordering, play: used(".extras summary") },
  "other-tip": { order: orders.confirmed, play: used(".tips .pick:last-child input") },
  "last-order": {
    order: orders.empty,
    how: {
      hello: {
        last_order: [
          { op: "add_allergy", name: "peanuts" },
          { op: "add_item", name: "Margherita", size: "large" },
        ],
      },
    },
    play: greeting,
  },
  paused: { order: orders.ordering, house: { paused: true }, hash: "#menu", play: greeting },
  closed: {
    order: orders.ordering,
    house: { open_now: false, opens_at: "2026-11-21T11:00:00-05:00" },
    hash: "#menu",
    play: greeting,
  },
  recorded: { order: orders.empty, how: { features: ["recorded"] }, play: greeting },
  talking: { order: orders.ordering, play: used(".speak") },
  muted: {
    order: orders.ordering,
    play: used(".microphone label:last-child input", ".microphone [aria-pressed]"),
  },
  "no-agent": {
    order: orders.ordering,
    how: { limits: { agent: 50 } },
    play: async (evening) => {
      evening.room.leave();
      await soon();
    },
  },
  disconnected: {
    order: orders.ordering,
    play: (evening) => evening.room.connection("disconnected"),
  },
  "turned-away": {
    order: orders.ordering,
    play: async (evening) => {
      evening.room.onRequest = (method) => {
        if (method === "hello") throw refused(4003, "forbidden");
      };
      evening.room.join();
      await soon();
    },
  },
  elsewhere: { order: orders.ordering, elsewhere: true, play: greeting },
  moved: { order: orders.ordering, play: (evening) => evening.room.endCall("moved") },
  "no-hearing": { order: orders.ordering, unheard: true, play: greeting },
  "microphone-gone": {
    order: orders.ordering,
    gone: true,
    play: async (evening) => {
      await talk(evening);
      evening.room.yourTurn();
    },
  },
  "broken-off": { order: orders.ordering, play: (evening) => evening.room.endCall("failed") },
  hostile: {
    order: orders.ordering,
    agent: "greeter",
    play: (evening) => {
      agent(evening, "wine_waiter<b>");
      said(evening, null, "<img src=x onerror=alert(1)> <b>bold</b>");
      evening.room.change({ op: "add_allergy", name: "<script>alert(1)</script>" });
      said(
        evening,
        "wine_waiter<b>",
        "A very long word: Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenverwaltung.",
      );
      evening.room.yourTurn({ expects: "from a newer server", choices: ["<i>one</i>", "two"] });
    },
  },
};

/** The dock's microphone, as in a call with sound. */
function StoryMicrophone({ how }: { how: string }) {
  const [mode, setMode] = useState<"push_to_talk" | "open">(
    how === "hold" ? "push_to_talk" : "open",
  );
  const [muted, setMuted] = useState(false);
  const [talking, setTalking] = useState(false);
  const [room] = useState(() => {
    const made = new Room();
    if (how === "silent") Object.defineProperty(made, "canPlaybackAudio", { value: false });
    return made;
  });
  const startTalking = () => setTalking(true);
  const stopTalking = () => setTalking(false);
  return (
    <RoomContext.Provider value={room}>
      <Microphone
        microphone={{
          ...{ mode, talking, muted, setMode, setMuted, startTalking, stopTalking },
          ...{ gone: false, reopen: nothing },
        }}
      />
    </RoomContext.Provider>
  );
}

/** Tells a test that there is nothing more to come. */
function told(ready: string): void {
  document.documentElement.dataset.ready = ready;
}

/** What the page before a call has to say, by the state that shows it. */
const TROUBLES: Record<string, TroubleKind> = {
  "no-server": "no_server",
  "too-many": "too_many",
  "no-microphone": "noMicrophone",
  "microphone-off": "microphone",
};

const BEFORE = ["welcome", "welcome-menu", "welcome-placed", "broken", ...Object.keys(TROUBLES)];

function Fault(): ReactNode {
  throw new Error("a part of the page that fails");
}

async function show(): Promise<ReactNode> {
  const query = new URLSearchParams(location.search);
  const name = query.get("state") ?? "";
  const { house, soldOut, earlier } = STATES[name] ?? {};
  serveMenu(house, soldOut);
  localStorage.clear();
  if (earlier) {
    serveEarlier("code", earlier);
    keepPlaced(earlier.order_id, "code");
  }
  if (name === "welcome-menu") location.hash = "#menu";
  if (name === "welcome" || name === "welcome-menu")
    return (
      <House>
        <Welcome settings={settings} busy={false} onStart={nothing} />
      </House>
    );
  if (name === "welcome-placed") {
    const placed = { ...orders.placed, stage: "accepted" as const };
    return <Welcome settings={settings} busy={false} placed={placed} onStart={nothing} />;
  }
  if (name === "broken") {
    return (
      <Boundary>
        <Fault />
      </Boundary>
    );
  }
  const kind = TROUBLES[name];
  if (kind) {
    return (
      <Welcome settings={settings} busy={false} onStart={nothing}>
        <Trouble kind={kind}>
          <button type="button" className="button">
            {en.trouble.again}
          </button>
        </Trouble>
      </Welcome>
    );
  }
  const state = STATES[name];
  if (!state) {
    return (
      <ul>
        {[...BEFORE, ...Object.keys(STATES)].map((each) => (
          <li key={each}>
            <a href={`?state=${each}`}>{each}</a>
          </li>
        ))}
      </ul>
    );
  }
  sessionStorage.clear();
  if (state.hash) location.hash = state.hash;
  const evening = await call(state.order, { agent: state.agent, ...state.how });
  const voice = query.get("voice");
  setTimeout(async () => {
    await state.play(evening);
    // The menu comes a moment later than the rest.
    setTimeout(() => told("played"), 150);
  }, 60);
  return (
    <PageProvider session={evening.session}>
      <EveningPage
        settings={settings}
        microphone={
          voice === null || state.gone || state.unheard ? undefined : (
            <StoryMicrophone how={voice} />
          )
        }
        gone={state.gone && <MicrophoneGone onAgain={nothing} />}
        trouble={state.unheard && <Trouble kind="noHearing" soft />}
        elsewhere={state.elsewhere}
        onNewCall={nothing}
      />
    </PageProvider>
  );
}

const texts = languages[new URLSearchParams(location.search).get("language") ?? "en"] ?? en;
document.documentElement.lang = texts.code;
keepFocus();
const root = document.getElementById("root");
if (root) {
  const page = await show();
  // One state is of a part that fails.
  createRoot(root, { onCaughtError: nothing }).render(
    <TextsContext value={texts}>{page}</TextsContext>,
  );
  const name = new URLSearchParams(location.search).get("state");
  if (name === null || name in STATES) {
    // It tells by itself.
  } else if (name === "welcome-menu") setTimeout(() => told("played"), 300);
  else told("played");
}
