/** Shared by every part of the page: the session, its course, where the guest is, refused edits. */

import type { Command, Order } from "@bella-vista/client";
import { type AgentSession, AppError, type Snapshot } from "@typed-handoffs/client";
import { AgentSessionProvider, useSnapshot } from "@typed-handoffs/react";
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore,
} from "react";
import { type Course, Evening } from "./evening";
import { forgetEarlier, keepPlaced, usePlacedOrder } from "./last";
import { cameToNothing, isPlaced } from "./order";

export type Session = AgentSession<Order, Command>;

/** Why an edit was refused, and the place on the page it was made at. */
export interface Refusal {
  place: string;
  error: AppError;
}

/** A refusal with the order and the words that it answers: what changes or is said later takes it away. */
interface Answered extends Refusal {
  order: string | undefined;
  version: number;
  said: string | undefined;
}

function answered(place: string, error: AppError, now: Snapshot<Order>): Answered {
  const version = Math.max(error.version ?? 0, now.version);
  return { place, error, order: now.confirmed?.order_id, version, said: lastSaid(now) };
}

/** Whether the order has changed, or the guest has said something, since a refusal. */
function isOld({ order, version, said }: Answered, now: Snapshot<Order>): boolean {
  return now.confirmed?.order_id !== order || now.version > version || lastSaid(now) !== said;
}

function lastSaid({ lines }: Snapshot<Order>): string | undefined {
  return lines.findLast(({ speaker }) => speaker === "user")?.id;
}

interface PageContext {
  session: Session;
  evening: Evening;
  refusal: Refusal | null;
  /** Change the order; a refusal is shown at the place. Resolves to false when refused. */
  edit: (place: string, ...commands: Command[]) => Promise<boolean>;
  forget: () => void;
}

const Context = createContext<PageContext | null>(null);

export function PageProvider({ session, children }: { session: Session; children: ReactNode }) {
  const [evening, setEvening] = useState<Evening | null>(null);
  const [refusal, setRefusal] = useState<Answered | null>(null);
  useEffect(() => {
    const followed = new Evening(session);
    setEvening(followed);
    return () => followed.close();
  }, [session]);

  useEffect(() => {
    if (refusal === null) return;
    const look = () => {
      if (isOld(refusal, session.getSnapshot())) {
        setRefusal((present) => (present === refusal ? null : present));
      }
    };
    look();
    return session.subscribe(look);
  }, [session, refusal]);

  const edit = useCallback(
    async (place: string, ...commands: Command[]) => {
      setRefusal(null);
      for (const command of commands) {
        try {
          await session.apply(command);
        } catch (error) {
          setRefusal(answered(place, AppError.from(error), session.getSnapshot()));
          return false;
        }
      }
      return true;
    },
    [session],
  );
  const forget = useCallback(() => setRefusal(null), []);

  const value = useMemo(
    () => (evening ? { session, evening, refusal, edit, forget } : null),
    [session, evening, refusal, edit, forget],
  );
  return (
    <AgentSessionProvider session={session}>
      <NowProvider>
        {value && <Context.Provider value={value}>{children}</Context.Provider>}
      </NowProvider>
    </AgentSessionProvider>
  );
}

const NowContext = createContext<Snapshot<Order> | null>(null);

/** After the call the order goes on: the page server tells what staff do with it. */
function NowProvider({ children }: { children: ReactNode }) {
  const now = useSnapshot<Order>();
  const { confirmed } = now;
  const placed = confirmed && isPlaced(confirmed) ? confirmed.order_id : null;
  const code = placed !== null && now.hello?.order_id === placed ? now.hello.resume_code : null;
  useEffect(() => {
    if (placed !== null) keepPlaced(placed, code);
  }, [placed, code]);
  const ended =
    confirmed && (cameToNothing(confirmed) || confirmed.stage === "completed")
      ? confirmed.order_id
      : null;
  useEffect(() => {
    if (ended !== null) forgetEarlier(ended); // it stands on this page
  }, [ended]);
  const last = usePlacedOrder(now.status === "ended");
  const newer =
    last !== null && last.order_id === confirmed?.order_id && last.version > confirmed.version;
  const value = useMemo(
    () => (newer ? { ...now, state: last, confirmed: last } : now),
    [now, last, newer],
  );
  return <NowContext value={value}>{children}</NowContext>;
}

export function usePage(): PageContext {
  const page = useContext(Context);
  if (!page) throw new Error("usePage needs a PageProvider");
  return page;
}

/** Everything that is known about the call. */
export function useNow(): Snapshot<Order> {
  const now = useContext(NowContext);
  if (!now) throw new Error("useNow needs a PageProvider");
  return now;
}

export function useCourse(): Course {
  const { evening } = usePage();
  return useSyncExternalStore(evening.subscribe, evening.getCourse);
}
