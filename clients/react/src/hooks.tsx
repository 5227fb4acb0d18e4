import type {
  AgentSession,
  AppError,
  Call,
  CallSnapshot,
  Line,
  Snapshot,
  Turn,
} from "@typed-handoffs/client";
import type { BoardSnapshot, StaffBoard } from "@typed-handoffs/client/staff";
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";

type AnySession = AgentSession<unknown, { op: string }>;

const SessionContext = createContext<AnySession | null>(null);

/**
 * Gives a session to the hooks below it. It starts the session when mounted and closes it when unmounted.
 *
 * @param session - Made outside of the components, or kept with `useState` or `useMemo`.
 */
export function AgentSessionProvider<S, C extends { op: string }>(props: {
  session: AgentSession<S, C>;
  children?: ReactNode;
}): ReactNode {
  const { session, children } = props;
  useEffect(() => {
    session.start().catch(() => {}); // told by the snapshot
    return () => session.close();
  }, [session]);
  return (
    <SessionContext.Provider value={session as unknown as AnySession}>
      {children}
    </SessionContext.Provider>
  );
}

/** The session: to say something, to call methods of the application, to listen to changes. */
export function useAgentSession<
  S = unknown,
  C extends { op: string } = { op: string },
>(): AgentSession<S, C> {
  const session = useContext(SessionContext);
  if (session === null) throw new Error("this hook works inside an AgentSessionProvider only");
  return session as unknown as AgentSession<S, C>;
}

/** Everything that is known about the call. A change of any part renders again. */
export function useSnapshot<S = unknown>(): Snapshot<S> {
  const session = useAgentSession<S>();
  return useSyncExternalStore(session.subscribe, session.getSnapshot, session.getSnapshot);
}

/** One part of what is known; renders again only when that changes. */
function usePart<S, T>(part: (snapshot: Snapshot<S>) => T): T {
  const session = useAgentSession<S>();
  const look = () => part(session.getSnapshot());
  return useSyncExternalStore(session.subscribe, look, look);
}

/** The state with the edits under way; null until the agent has answered. */
export function useAppState<S = unknown>(): {
  state: S | null;
  version: number;
  pending: number;
  error: AppError | null;
} {
  return {
    state: usePart<S, S | null>((snapshot) => snapshot.state),
    version: usePart((snapshot) => snapshot.version),
    pending: usePart((snapshot) => snapshot.pending),
    error: usePart((snapshot) => snapshot.lastError),
  };
}

/** Changes the state by a command; shown at once, taken back if it is refused. Stays the same function. */
export function useApply<S = unknown, C extends { op: string } = { op: string }>(): AgentSession<
  S,
  C
>["apply"] {
  const session = useAgentSession<S, C>();
  return useCallback((command, options) => session.apply(command, options), [session]);
}

/** Whose turn it is, and what is expected; null until the agent has said so. */
export function useTurn(): Turn | null {
  return usePart((snapshot) => snapshot.turn);
}

/** The name of the agent that the user talks to. */
export function useActiveAgent(): string | null {
  return usePart((snapshot) => snapshot.activeAgent);
}

/** The lines of the call so far, oldest first. */
export function useLines(): readonly Line[] {
  return usePart((snapshot) => snapshot.lines);
}

/** Push-to-talk, where the agent offers it: hold a button from `start` to `end`. */
export function usePushToTalk(): {
  offered: boolean;
  talking: boolean;
  start: () => Promise<void>;
  end: () => Promise<void>;
  cancel: () => Promise<void>;
} {
  const session = useAgentSession();
  const offered = usePart((snapshot) => snapshot.features.includes("push_to_talk"));
  const [talking, setTalking] = useState(false);
  const held = useRef(false);
  const finish = useCallback(
    async (how: "endTurn" | "cancelTurn") => {
      if (!held.current) return;
      held.current = false;
      setTalking(false);
      await session[how]();
    },
    [session],
  );
  const start = useCallback(async () => {
    if (held.current) return;
    held.current = true;
    setTalking(true);
    try {
      await session.startTurn();
    } catch (error) {
      held.current = false;
      setTalking(false);
      throw error;
    }
  }, [session]);
  // A button that disappears while it is held ends nothing by itself.
  useEffect(() => () => void finish("cancelTurn").catch(() => {}), [finish]);
  const end = useCallback(() => finish("endTurn"), [finish]);
  const cancel = useCallback(() => finish("cancelTurn"), [finish]);
  return { offered, talking, start, end, cancel };
}

/** How a call stands: joined, being joined, lost, or left. */
export function useCall(call: Call): CallSnapshot {
  return useSyncExternalStore(call.subscribe, call.getSnapshot, call.getSnapshot);
}

/** The states and settings that staff see. Follows the board while mounted. */
export function useStaffBoard<S, C extends { op: string }>(
  board: StaffBoard<S, C>,
): BoardSnapshot<S> {
  useEffect(() => {
    board.start();
    return () => board.close();
  }, [board]);
  return useSyncExternalStore(board.subscribe, board.getSnapshot, board.getSnapshot);
}
