/** Shows what went wrong, and what the guest can do. */

import type { ReactNode } from "react";
import { type House, takesNoOrders } from "../model/menu";
import { canOrder } from "../model/order";
import { useNow } from "../model/page";
import { dayAndClock } from "../model/words";
import { type Texts, useTexts } from "../texts";
import { Ring } from "./house";
import "../styles/trouble.css";

export type TroubleKind = Exclude<
  keyof Texts["trouble"],
  "again" | "reload" | "callAgain" | "askAgain" | "typing"
>;

/** The page cannot help the guest to an order; the telephone may. */
const HELPLESS: ReadonlySet<TroubleKind> = new Set([
  "no_server",
  "refused",
  "too_many",
  "no_agent",
  "failed",
]);

export function Trouble({
  kind,
  soft = false,
  children,
}: {
  kind: TroubleKind;
  soft?: boolean;
  children?: ReactNode;
}) {
  const words = useTexts().trouble[kind];
  const helpless = HELPLESS.has(kind);
  return (
    <div className={soft ? "note soft" : "note"} role="alert">
      <h2>{words.title}</h2>
      <p>{words.text}</p>
      {(children || helpless) && (
        <div className="row">
          {children}
          {helpless && <Ring />}
        </div>
      )}
    </div>
  );
}

/** Shown while the line is down; the ticket stays as it is. */
export function Banner({ onTryNow }: { onTryNow?: () => void }) {
  const texts = useTexts();
  const now = useNow();
  if (now.status !== "reconnecting") return null;
  return (
    <div className="banner" role="alert">
      <p>
        <b>{texts.banner.dropped}</b> {texts.banner.safe}
      </p>
      {onTryNow && (
        <button type="button" className="button" onClick={onTryNow}>
          {texts.banner.tryNow}
        </button>
      )}
    </div>
  );
}

/** Tells a guest with an order to place that the house is closed, or that staff have paused orders. */
export function Closed({ house }: { house: House | null }) {
  const texts = useTexts();
  const order = useNow().state;
  if (house === null || !takesNoOrders(house) || !order || !canOrder(order)) return null;
  return <p className="note soft">{closedText(house, texts)}</p>;
}

export function closedText(house: House, texts: Texts): string {
  const words = texts.closed;
  if (house.paused) return words.paused;
  if (!house.opens_at) return words.closed;
  return words.until(dayAndClock(house.opens_at, texts.code));
}

/** Why the call is not going on, in the talk's place. */
export function CallTrouble({ elsewhere, onAgain }: { elsewhere: boolean; onAgain: () => void }) {
  const texts = useTexts();
  const now = useNow();
  const kind = elsewhere ? "elsewhere" : troubleOf(now);
  if (!kind) return null;
  return (
    <Trouble kind={kind}>
      <button type="button" className="button" onClick={onAgain}>
        {texts.trouble.callAgain}
      </button>
    </Trouble>
  );
}

function troubleOf(now: ReturnType<typeof useNow>): TroubleKind | null {
  if (now.status === "failed") {
    if (now.problem === "disconnected") return "no_server";
    return now.problem === "refused" ? "refused" : "no_agent";
  }
  if (now.status !== "ended") return null;
  // A call that its agent has ended is no trouble; the dock says so.
  if (now.ended?.reason === "moved") return "elsewhere";
  return now.ended?.reason === "failed" ? "failed" : null;
}
