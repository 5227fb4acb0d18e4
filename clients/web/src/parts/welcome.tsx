/** Before the call. The microphone is asked for after Start, never before. */

import type { Order } from "@bella-vista/client";
import { lazy, type ReactNode, Suspense, useContext } from "react";
import { usePlace } from "../model/hooks";
import { useRefusedEarlier } from "../model/last";
import { type Menu, MenuContext, takesNoOrders, useHouse } from "../model/menu";
import { cameToNothing } from "../model/order";
import { useTexts } from "../texts";
import { Drawing, kindOf, Pizza } from "./drawings";
import { Front } from "./front";
import { Ring } from "./house";
import { Icon } from "./icons";
import { Nothing, Placed, RefusedEarlier, StageAnnouncer } from "./placed";
import { closedText } from "./trouble";
import "../styles/welcome.css";

const MenuBefore = lazy(() => import("./menu-before"));

const MARGHERITA = ["mozzarella", "basil"].map((name) => ({ name, where: "all" as const }));

function sellsPizza({ sections }: Menu): boolean {
  return sections.some(({ name, dishes }) =>
    dishes.some((dish) => kindOf(dish.name, name) === "pizza"),
  );
}

/** What went wrong may come below the edge of a phone's screen. */
const showWhole = (part: HTMLElement | null) => {
  part?.scrollIntoView({ block: "nearest" });
};

export function Welcome({
  settings,
  busy,
  placed = null,
  onStart,
  children,
}: {
  settings: ReactNode;
  busy: boolean;
  /** The order of the guest's last call, which is under way. */
  placed?: Order | null;
  onStart: (by: "voice" | "typing") => void;
  children?: ReactNode;
}) {
  const texts = useTexts();
  const words = texts.welcome;
  const menu = useContext(MenuContext);
  const { address } = useHouse();
  const browsing = usePlace().at !== "talk";
  const [refused, seen] = useRefusedEarlier(placed?.order_id ?? null);
  return (
    <>
      <Front>{settings}</Front>
      <main className={browsing || placed ? "welcome browsing" : "welcome"}>
        <div className="invitation">
          <h1>{words.title}</h1>
          <RefusedEarlier orders={refused} onSeen={seen} />
          {placed === null ? (
            <p className="lead">{words.lead}</p>
          ) : cameToNothing(placed) ? (
            <div className="note">
              <h2>{texts.placed.number(placed.order_number)}</h2>
              <Nothing order={placed} />
              <Ring />
            </div>
          ) : (
            <Placed order={placed} />
          )}
          <div className="row">
            <button
              type="button"
              className="button main big"
              aria-disabled={busy}
              onClick={() => !busy && onStart("voice")}
            >
              <Icon name="microphone" />
              {words.talking}
            </button>
            <button
              type="button"
              className="button big"
              aria-disabled={busy}
              onClick={() => !busy && onStart("typing")}
            >
              {words.typing}
            </button>
            {!browsing && (
              <a className="button big quiet" href="#menu">
                {texts.ticket.toMenu}
              </a>
            )}
          </div>
          {menu && !browsing && takesNoOrders(menu.house) && (
            <p className="note soft">{closedText(menu.house, texts)}</p>
          )}
          <p className="fine">{words.fine}</p>
          {placed === null && (
            <p className="fine reach">
              {address && <span>{address}</span>} <Ring />
            </p>
          )}
          <p role="status" className={busy ? undefined : "unseen"}>
            {busy ? words.connecting : ""}
          </p>
          {children && <div ref={showWhole}>{children}</div>}
        </div>
        {browsing ? (
          <Suspense>
            <MenuBefore />
          </Suspense>
        ) : (
          placed === null && (
            <div className="tablecloth" aria-hidden="true">
              {menu && (sellsPizza(menu) ? <Pizza toppings={MARGHERITA} /> : <Drawing name="" />)}
            </div>
          )
        )}
      </main>
      <StageAnnouncer order={placed} />
    </>
  );
}
