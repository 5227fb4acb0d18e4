/** Shows one state of the page, named by `?state=`; `?language=de` for German. */

import type { Order } from "@bella-vista/client";
import type { ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { keepFocus } from "../src/model/focus";
import { PageProvider } from "../src/model/page";
import { EveningPage } from "../src/parts/evening";
import { Settings } from "../src/parts/settings";
import { Trouble } from "../src/parts/trouble";
import { Welcome } from "../src/parts/welcome";
import { languages, TextsContext } from "../src/texts";
import { en } from "../src/texts/en";
import "../src/styles/tokens.css";
import "../src/styles/base.css";
import { call, type Evening, longer, orders, serveMenu } from "./room";

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

const STATES: Record<string, { order: Order; agent?: string; hash?: string; play: Play }> = {
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
    play: (evening) => evening.room.yourTurn(),
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
    hash: "#menu",
    play: async (evening) => {
      evening.room.yourTurn();
    },
  },
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

/** The microphone's place, as the dock has it in a call with sound. */
const microphone = (
  <div className="microphone">
    <button type="button" className="button speak">
      {en.dock.hold}
    </button>
  </div>
);

/** Tells a test that there is nothing more to come. */
function told(ready: string): void {
  document.documentElement.dataset.ready = ready;
}

async function show(): Promise<ReactNode> {
  const query = new URLSearchParams(location.search);
  const name = query.get("state") ?? "";
  serveMenu();
  if (name === "welcome-menu") location.hash = "#menu";
  if (name === "welcome" || name === "welcome-menu")
    return <Welcome settings={settings} busy={false} onStart={nothing} />;
  if (name === "no-server") {
    return (
      <Welcome settings={settings} busy={false} onStart={nothing}>
        <Trouble kind="no_server">
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
        {["welcome", "welcome-menu", "no-server", ...Object.keys(STATES)].map((each) => (
          <li key={each}>
            <a href={`?state=${each}`}>{each}</a>
          </li>
        ))}
      </ul>
    );
  }
  sessionStorage.clear();
  if (state.hash) location.hash = state.hash;
  const evening = await call(state.order, { agent: state.agent });
  setTimeout(async () => {
    await state.play(evening);
    // The menu comes a moment later than the rest.
    setTimeout(() => told("played"), 150);
  }, 60);
  return (
    <PageProvider session={evening.session}>
      <EveningPage
        settings={settings}
        microphone={query.has("voice") ? microphone : undefined}
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
  createRoot(root).render(<TextsContext value={texts}>{page}</TextsContext>);
  if (
    !location.search.includes("state=") ||
    /state=(welcome|no-server)\b(?!-menu)/.test(location.search)
  ) {
    told("played");
  }
  if (location.search.includes("welcome-menu")) setTimeout(() => told("played"), 300);
}
