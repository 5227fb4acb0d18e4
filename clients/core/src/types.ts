/** The types of a session, and of the connection that it needs. */

import type { AppError } from "./errors.js";
import type { Operation } from "./json.js";

export type Connection = "connecting" | "connected" | "reconnecting" | "disconnected";

/** The agent in the room that calls go to. */
export interface AgentPresence {
  present: boolean;
  /** Differs for each agent process; null while there is none. */
  id: string | null;
  attributes: Record<string, string>;
}

/** A transcript, as far as it is known. */
export interface TranscriptPiece {
  segmentId: string;
  from: "user" | "agent";
  /** The whole text of the segment so far. */
  text: string;
  final: boolean;
  attributes: Record<string, string>;
}

/**
 * The connection to an agent: `roomTransport(room)` for LiveKit, `FakeRoom` in tests.
 *
 * `onConnection` and `onAgent` call the listener at once with the present value. All `on...` and `handle`
 * return a function that ends it.
 */
export interface Transport {
  /** Call the newest agent. Rejects with a `CallError`. */
  call(method: string, payload: string, timeoutMs: number): Promise<string>;
  /** Answer the agent's calls of this method. */
  handle(method: string, handler: (payload: string) => Promise<string>): () => void;
  onTranscription(listener: (piece: TranscriptPiece) => void): () => void;
  onConnection(listener: (state: Connection) => void): () => void;
  onAgent(listener: (agent: AgentPresence) => void): () => void;
}

export type Expects = "open" | "yes_no" | "choice" | "rating" | "amount" | "name" | "contact";

/** Whose turn it is, by the agent's latest notice. */
export interface Turn {
  turn: number;
  /** False when the notice was withdrawn: the agent speaks again, or the user has spoken. */
  yours: boolean;
  agent: string;
  /** The kind of answer that is expected; `open` if this client does not know it. */
  expects: Expects;
  choices?: string[];
  /** A sentence for a screen reader. */
  text?: string;
}

/** Something said, possibly not to the end. */
export interface Line {
  id: string;
  speaker: "user" | "agent";
  /** The agent whose words these are. */
  agent: string | null;
  text: string;
  final: boolean;
  /** The user spoke before the agent had finished. */
  interrupted: boolean;
}

/** A line as the agent keeps it, for a client that was not there: in the reply to `get_transcript`. */
export interface EarlierLine {
  /** Counts the lines; a later line has a higher one. */
  number: number;
  /** How often the user had spoken by then. */
  turn: number;
  speaker: "user" | "agent";
  agent: string | null;
  text: string;
  interrupted: boolean;
  /** The attribute `utterance` of the live pieces of these words; an older agent does not tell it. */
  utterance?: string | null;
}

/** The reply to `hello`; a newer server may send more. */
export interface Hello {
  protocol: number;
  /** The application's name. */
  agent: string;
  features: readonly string[];
  version: number;
  active_agent: string | null;
  turn: number;
  resume_code: string | null;
  [more: string]: unknown;
}

/** A new version of the state, confirmed by the agent. */
export interface Change<S> {
  base: number;
  version: number;
  /** One `replace` of the whole (path "") where the agent sent no patch. */
  patch: readonly Operation[];
  before: S;
  after: S;
  /** Whether it is the answer to an edit of this client. */
  own: boolean;
}

/**
 * - `idle`: not started, or closed
 * - `connecting`: not connected to the room
 * - `waiting_for_agent`: connected; no agent has answered yet
 * - `ready`: the state is current
 * - `reconnecting`: the connection was lost and is being restored
 * - `ended`: the call is over; `say` starts another
 * - `failed`: given up, see `problem`; goes on by itself if an agent appears
 */
export type Status =
  | "idle"
  | "connecting"
  | "waiting_for_agent"
  | "ready"
  | "reconnecting"
  | "ended"
  | "failed";

/**
 * - `no_agent`: no agent came, or none answered
 * - `refused`: the agent does not serve this client; the reason is in `lastError`
 * - `disconnected`: the connection to the room has ended
 */
export type Problem = "no_agent" | "refused" | "disconnected";

/** Everything a page shows. The same object until something changes. */
export interface Snapshot<S> {
  status: Status;
  /** The state with the edits that are not answered yet. */
  state: S | null;
  /** The state as the agent has it. */
  confirmed: S | null;
  version: number;
  /** How many edits are not answered yet. */
  pending: number;
  /** Why the latest edit or words were refused, or why no agent serves this client; null again with the next. */
  lastError: AppError | null;
  turn: Turn | null;
  activeAgent: string | null;
  lines: readonly Line[];
  features: readonly string[];
  ended: { reason: string; resumeCode?: string } | null;
  hello: Hello | null;
  problem: Problem | null;
}

/** An application, as a client knows it. */
export interface App<S, C extends { op: string }> {
  /** The application's name for its state: `order` gives `order.apply` and `get_order_state`. */
  noun: string;
  /**
   * The state as a command will leave it, or null if that cannot be foreseen.
   *
   * Shown until the agent answers. Change all that the command changes, except derived values such as totals; return
   * the same for a state that has the change already; keep the argument as it is. The places that differ are those
   * that the command is about: if they are unchanged, it is sent again after a conflict.
   */
  optimistic?: (state: S, command: C) => S | null;
  /** Names the values that this client does not know, such as a new stage; the developer is told each once. */
  unknownIn?: (state: S) => readonly string[];
  /** Values for fields that an older agent does not send, by field; the developer is told each field once. */
  empty?: Readonly<Record<string, unknown>>;
}

export interface SessionOptions {
  /** Bring an agent into the room, if none is there; called when one has been missing for some seconds. */
  bringAgent?: () => Promise<unknown>;
  /** Tell the developer about something unexpected; the default is `console.warn`. */
  warn?: (message: string, detail?: unknown) => void;
  limits?: Partial<Limits>;
}

/** Time limits, in milliseconds. */
export interface Limits {
  /** How long an agent may take to come and answer `hello`. */
  agent: number;
  /** How long an agent may be missing until `bringAgent` is called, and then until it is called again. */
  missing: number;
  /** How long one call may take. */
  call: number;
  /** How long words and edits are repeated until they are answered. */
  write: number;
  /** The pause before a repetition. */
  pause: number;
}
