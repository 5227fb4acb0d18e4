/** The order of a guest whose call is over: the page server has it, as staff move it. */

import { bellaVista, type Order } from "@bella-vista/client";
import { completed } from "@typed-handoffs/client";
import { useEffect, useState } from "react";
import { isPlaced } from "./order";

/** How often it is read, in milliseconds. */
const AGAIN_MS = 5_000;
/** How long a page that is opened again asks for it, in milliseconds. */
const KEPT_MS = 24 * 3_600_000;
const KEPT = "bella-vista.placed";

/** Keeps which order was placed, for this page when its call is over, and for one that is opened again. */
export function keepPlaced(id: string): void {
  try {
    localStorage.setItem(KEPT, JSON.stringify({ id, at: Date.now() }));
  } catch {
    // Only a page that is opened again is affected.
  }
}

function keptId(): string | null {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT) ?? "null");
    return kept !== null && Date.now() - kept.at < KEPT_MS ? kept.id : null;
  } catch {
    return null;
  }
}

function forget(): void {
  try {
    localStorage.removeItem(KEPT);
  } catch {
    // There is nothing to forget.
  }
}

/**
 * The guest's placed order, read again until it has come to its end; null as long as there is none.
 *
 * @param wanted - There is no call that tells it.
 */
export function usePlacedOrder(wanted: boolean): Order | null {
  const [order, setOrder] = useState<Order | null>(null);
  useEffect(() => {
    if (!wanted) return;
    let gone = false;
    const read = async () => {
      const id = keptId();
      if (id === null) return;
      const found = await fetchOrder();
      if (gone || found === null) return;
      if (found === "none" || found.order_id !== id) {
        forget(); // it is another order by now
        setOrder(null);
        return;
      }
      if (found.stage === "completed" || !isPlaced(found)) forget(); // told once
      setOrder(found);
    };
    void read();
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") void read();
    }, AGAIN_MS);
    return () => {
      gone = true;
      clearInterval(timer);
    };
  }, [wanted]);
  return order;
}

/** The order of the page's cookie; null if the server does not answer. */
async function fetchOrder(): Promise<Order | "none" | null> {
  try {
    const answer = await fetch("/api/order", { signal: AbortSignal.timeout(10_000) });
    if (answer.status === 401 || answer.status === 404) return "none";
    if (!answer.ok) return null;
    const { order } = await answer.json();
    return completed<Order>(order, bellaVista.empty ?? {}, () => {});
  } catch (error) {
    console.warn("[bella-vista] the order could not be read", error);
    return null;
  }
}
