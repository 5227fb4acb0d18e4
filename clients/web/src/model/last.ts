/** The orders of a guest whose call is over: the page server has them, as staff move them. */

import { bellaVista, type Order } from "@bella-vista/client";
import { completed } from "@typed-handoffs/client";
import { useCallback, useEffect, useState } from "react";
import { cameToNothing, isPlaced } from "./order";

/** How often it is read, in milliseconds. */
const AGAIN_MS = 5_000;
/** How long a page that is opened again asks for it, in milliseconds. */
const KEPT_MS = 24 * 3_600_000;
const KEPT = "bella-vista.placed";
const EARLIER = "bella-vista.earlier";
/** How many orders are followed beside that of the cookie. */
const MOST_EARLIER = 3;

/** A placed order, and the code that shows it when the cookie's order is another one. */
interface Earlier {
  id: string;
  code: string;
  at: number;
}

/**
 * Keeps which order was placed, for this page when its call is over, and for one that is opened again.
 *
 * @param code - Its resume code: shows it also after a new call has begun another order.
 */
export function keepPlaced(id: string, code: string | null = null): void {
  try {
    localStorage.setItem(KEPT, JSON.stringify({ id, at: Date.now() }));
    if (code !== null) keepEarlier([...earlier(id), { id, code, at: Date.now() }]);
  } catch {
    // Only a page that is opened again is affected.
  }
}

/** The placed orders whose end the guest has not seen, without one of them. */
function earlier(except: string | null): Earlier[] {
  try {
    const kept: Earlier[] = JSON.parse(localStorage.getItem(EARLIER) ?? "[]");
    return kept.filter(({ id, at }) => id !== except && Date.now() - at < KEPT_MS);
  } catch {
    // The browser keeps nothing, or another page has written something else there.
    return [];
  }
}

function keepEarlier(kept: readonly Earlier[]): void {
  try {
    if (kept.length === 0) localStorage.removeItem(EARLIER);
    else localStorage.setItem(EARLIER, JSON.stringify(kept.slice(-MOST_EARLIER)));
  } catch {
    // Only what becomes of earlier orders is not told.
  }
}

/** The guest has seen what has become of an order. */
export function forgetEarlier(id: string): void {
  keepEarlier(earlier(id));
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

/** Reads now and again while the page is seen; returns how to stop. */
function readAgain(read: () => Promise<void>): () => void {
  void read();
  const timer = setInterval(() => {
    if (document.visibilityState === "visible") void read();
  }, AGAIN_MS);
  return () => clearInterval(timer);
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
      if (found.stage === "completed" || !isPlaced(found)) {
        forget(); // told once
        forgetEarlier(id);
      }
      setOrder(found);
    };
    const stop = readAgain(read);
    return () => {
      gone = true;
      stop();
    };
  }, [wanted]);
  return order;
}

/**
 * The orders of earlier calls that came to nothing, until the guest has seen it.
 *
 * @param present - The id of the order that the page shows anyway.
 */
export function useRefusedEarlier(present: string | null): [Order[], (id: string) => void] {
  const [refused, setRefused] = useState<readonly Order[]>([]);
  useEffect(() => {
    let gone = false;
    const read = async () => {
      for (const { id, code } of earlier(present)) {
        const found = await fetchOrder(code);
        if (gone || found === null) return;
        if (found === "none" || found.stage === "completed") forgetEarlier(id);
        else if (cameToNothing(found)) {
          setRefused((before) => [...before.filter((one) => one.order_id !== id), found]);
        }
      }
    };
    const stop = readAgain(read);
    return () => {
      gone = true;
      stop();
    };
  }, [present]);
  const seen = useCallback((id: string) => {
    forgetEarlier(id);
    setRefused((before) => before.filter((one) => one.order_id !== id));
  }, []);
  return [refused.filter((one) => one.order_id !== present), seen];
}

/** The order of the page's cookie, or that of a resume code; null if the server does not answer. */
async function fetchOrder(code: string | null = null): Promise<Order | "none" | null> {
  try {
    const signal = AbortSignal.timeout(10_000);
    const answer = await (code === null
      ? fetch("/api/order", { signal })
      : fetch("/api/order", {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify({ resume_code: code }),
          signal,
        }));
    if (answer.status === 401 || answer.status === 404) return "none";
    if (!answer.ok) return null;
    const { order } = await answer.json();
    return completed<Order>(order, bellaVista.empty ?? {}, () => {});
  } catch (error) {
    console.warn("[bella-vista] the order could not be read", error);
    return null;
  }
}
