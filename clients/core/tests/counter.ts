/** An application for tests: lines with quantities, and a note. */

import { AgentSession, type App, type SessionOptions, type Snapshot } from "../src/index.js";
import { FakeRoom, refused } from "../src/testing.js";

export interface Line {
  id: string;
  quantity: number;
  size: string;
}

export interface Basket {
  lines: Line[];
  note: string | null;
  /** Raised by "more", so that a command that is carried out twice shows. */
  count: number;
}

export type Command =
  | { op: "add"; id: string }
  | { op: "set"; id: string; quantity: number }
  | { op: "size"; id: string; size: string }
  | { op: "note"; text: string }
  | { op: "more" }
  | { op: "forbidden" };

export const EMPTY: Basket = { lines: [], note: null, count: 0 };

export function reduce(state: Basket, command: Command): Basket {
  const changed = (fields: Partial<Line>, id: string) => {
    if (!state.lines.some((line) => line.id === id)) throw refused(4004, "not_found");
    return {
      ...state,
      lines: state.lines.map((line) => (line.id === id ? { ...line, ...fields } : line)),
    };
  };
  switch (command.op) {
    case "add":
      if (state.lines.some((line) => line.id === command.id)) throw refused(4022, "refused");
      return { ...state, lines: [...state.lines, { id: command.id, quantity: 1, size: "small" }] };
    case "set":
      return changed({ quantity: command.quantity }, command.id);
    case "size":
      return changed({ size: command.size }, command.id);
    case "note":
      return { ...state, note: command.text };
    case "more":
      return { ...state, count: state.count + 1 };
    case "forbidden":
      throw refused(4022, "refused", { reason: "sold_out" });
  }
}

export const APP: App<Basket, Command> = {
  noun: "basket",
  optimistic(state, command) {
    if (["add", "more", "forbidden"].includes(command.op)) return null;
    if ("id" in command && !state.lines.some((line) => line.id === command.id)) return null;
    return reduce(state, command);
  },
};

export type BasketRoom = FakeRoom<Basket, Command>;
export type BasketSession = AgentSession<Basket, Command>;

/** As the agent does: two commands about one line are in conflict, whatever they change of it. */
export function basketRoom(state: Basket = EMPTY): BasketRoom {
  return new FakeRoom<Basket, Command>({
    noun: "basket",
    state,
    reduce,
    conflicts: (one, other) => "id" in one && "id" in other && one.id === other.id,
    features: ["say", "basket.apply", "your_turn_to_speak", "call_ended", "push_to_talk"],
  });
}

export async function joined(
  room: BasketRoom = basketRoom(),
  options: SessionOptions = {},
): Promise<{ room: BasketRoom; session: BasketSession; look: () => Snapshot<Basket> }> {
  room.connection("connected");
  room.join();
  const session = new AgentSession(room.transport, APP, { warn: failing, ...options });
  await session.start();
  return { room, session, look: session.getSnapshot };
}

export const ONE: Basket = {
  lines: [{ id: "L1", quantity: 1, size: "small" }],
  note: null,
  count: 0,
};

/** A warning that the test does not expect. */
export function failing(message: string, detail?: unknown): never {
  throw new Error(`warned: ${message} ${String(detail ?? "")}`);
}
