/** An agent and a room for tests of clients: no server, no network, no clock. */

import { CallError, isObject } from "./errors.js";
import { equal, type Operation } from "./json.js";
import type {
  AgentPresence,
  Connection,
  EarlierLine,
  TranscriptPiece,
  Transport,
} from "./types.js";

/** The application that the agent in a `FakeRoom` serves. */
export interface FakeApp<S, C> {
  noun: string;
  state: S;
  /** The state as a command leaves it; throw `refused(...)` otherwise. */
  reduce: (state: S, command: C) => S;
  /** Whether two commands are about the same part, so that one with an older version is refused. */
  conflicts?: (command: C, earlier: C) => boolean;
  features?: readonly string[];
}

/** A call that reached the agent. */
export interface FakeCall {
  method: string;
  payload: Record<string, unknown>;
}

/** A call of the agent to the client that has not been delivered. */
export interface Push {
  agent: string;
  method: string;
  payload: string;
}

/** How many earlier lines one reply holds. */
const EARLIER_AT_ONCE = 50;

/** The error an agent answers with. */
export function refused(code: number, type: string, more: Record<string, unknown> = {}): CallError {
  const told = {
    code,
    type,
    reason: type,
    facts: {},
    detail: type,
    retryable: code === 4009,
    ...more,
  };
  return new CallError(code, type, JSON.stringify(told));
}

/**
 * A room with one user and, after `join`, an agent whose state outlives its process.
 *
 * Its own changes and notices are sent at once; with `holding` they wait in `pushes` until `deliver`.
 */
export class FakeRoom<S extends object, C extends { op: string }> {
  readonly transport: Transport;
  /** The calls that reached an agent, oldest first. */
  readonly calls: FakeCall[] = [];
  readonly pushes: Push[] = [];
  holding = false;
  /** Called before a call reaches the agent; what it throws is the outcome, and the agent hears nothing. */
  onRequest: (method: string) => void | Promise<void> = () => {};
  /** Called before an answer leaves the agent; what it throws is the outcome, though the agent has acted. */
  onReply: (method: string) => void | Promise<void> = () => {};
  /** Added to the answer to `hello`. */
  hello: Record<string, unknown> = {};
  version = 0;
  state: S;
  stateId = "state-1";
  turn = 0;
  activeAgent = "greeter";
  /** What was said before the client came; an agent without it is one that cannot tell. */
  earlier: readonly EarlierLine[] | null = null;
  /** The user's words by `say`, each once. */
  readonly heard: string[] = [];

  #processes = 0;
  #agent: AgentPresence = { present: false, id: null, attributes: {} };
  #connection: Connection = "connecting";
  #over = false;
  #greeted = false;
  #subscribed = false;
  readonly #keys = new Map<string, { request: string; reply: Record<string, unknown> }>();
  readonly #log: { version: number; command: C }[] = [];
  readonly #handlers = new Map<string, (payload: string) => Promise<string>>();
  readonly #transcription = new Set<(piece: TranscriptPiece) => void>();
  readonly #onConnection = new Set<(state: Connection) => void>();
  readonly #onAgent = new Set<(agent: AgentPresence) => void>();

  constructor(private readonly app: FakeApp<S, C>) {
    this.state = app.state;
    this.transport = {
      call: (method, payload) => this.#call(method, payload),
      handle: (method, handler) => {
        if (this.#handlers.has(method)) throw new Error(`${method} has a handler already`);
        this.#handlers.set(method, handler);
        return () => this.#handlers.delete(method);
      },
      onTranscription: (listener) => listening(this.#transcription, listener),
      onConnection: (listener) => listening(this.#onConnection, listener, this.#connection),
      onAgent: (listener) => listening(this.#onAgent, listener, this.#agent),
    };
  }

  /** The state as clients see it. */
  get view(): S {
    return { ...this.state, [`${this.app.noun}_id`]: this.stateId, version: this.version };
  }

  /** Whether a client listens to the agent's calls. */
  get listened(): boolean {
    return this.#handlers.size > 0;
  }

  /** Whether an agent is in the room. */
  get present(): boolean {
    return this.#agent.present;
  }

  /** After a loss the agent takes the client for a reloaded page, which subscribes by itself. */
  connection(state: Connection): void {
    if (state !== "connected") this.#subscribed = false;
    this.#connection = state;
    for (const listener of [...this.#onConnection]) listener(state);
  }

  /** An agent process joins; one that was there is replaced. */
  join(): void {
    this.#processes += 1;
    this.#greeted = this.#subscribed = false;
    this.#announce({ present: true, id: `agent-${this.#processes}`, attributes: {} });
  }

  leave(): void {
    this.#announce({ present: false, id: null, attributes: {} });
  }

  /** Show the agent's attributes, as it does after each change. */
  attributes(attributes: Record<string, string>): void {
    this.#announce({ ...this.#agent, attributes });
  }

  /** The agent or staff change the state. */
  change(command: C): void {
    const before = this.view;
    this.state = this.app.reduce(this.state, command);
    this.version += 1;
    this.#log.push({ version: this.version, command });
    if (this.#subscribed) {
      const patch = stepsBetween(before, this.view);
      this.push(`${this.app.noun}_state_changed`, {
        base_version: this.version - 1,
        version: this.version,
        patch,
      });
    }
  }

  /** Tell the client that it is the user's turn. */
  yourTurn(more: Record<string, unknown> = {}): void {
    const { turn, activeAgent: active_agent, version } = this;
    this.push("your_turn_to_speak", {
      turn,
      your_turn: true,
      active_agent,
      version,
      expects: "open",
      ...more,
    });
  }

  withdrawTurn(turn = this.turn): void {
    this.push("your_turn_to_speak", { turn, your_turn: false });
  }

  endCall(reason: string, resumeCode?: string): void {
    this.#over = true;
    this.push("call_ended", { reason, ...(resumeCode ? { resume_code: resumeCode } : {}) });
  }

  /** A piece of transcript arrives. */
  transcribe(piece: Partial<TranscriptPiece> & { text: string }): void {
    const whole = {
      segmentId: "S1",
      from: "agent" as const,
      final: true,
      attributes: {},
      ...piece,
    };
    for (const listener of [...this.#transcription]) listener(whole);
  }

  /** Call the client. */
  push(method: string, payload: Record<string, unknown>): void {
    const push = { agent: this.#agent.id ?? "", method, payload: JSON.stringify(payload) };
    this.pushes.push(push);
    if (!this.holding) this.deliver(push);
  }

  /** Deliver a call of the agent; one of an agent that was replaced meanwhile is not accepted. */
  deliver(push: Push, keep = false): void {
    const index = this.pushes.indexOf(push);
    if (!keep && index >= 0) this.pushes.splice(index, 1);
    if (push.agent === this.#agent.id) void this.#handlers.get(push.method)?.(push.payload);
  }

  #announce(agent: AgentPresence): void {
    this.#agent = agent;
    for (const listener of [...this.#onAgent]) listener(agent);
  }

  async #call(method: string, text: string): Promise<string> {
    if (this.#connection !== "connected") throw new CallError(1505, "not connected");
    const agent = this.#agent.id;
    if (agent === null) throw new CallError(1401, "no agent");
    await this.onRequest(method);
    if (this.#agent.id !== agent) throw new CallError(1503, "the agent has left");
    const payload: unknown = JSON.parse(text || "{}");
    if (!isObject(payload)) throw refused(4001, "invalid_params");
    this.calls.push({ method, payload });
    const reply = JSON.stringify(this.#answer(method, payload));
    await this.onReply(method);
    if (this.#agent.id !== agent) throw new CallError(1503, "the agent has left");
    return reply;
  }

  #answer(method: string, payload: Record<string, unknown>): Record<string, unknown> {
    const { noun } = this.app;
    if (method === "hello") {
      this.#greeted = true;
      const features = this.app.features ?? [
        "say",
        `${noun}.apply`,
        "your_turn_to_speak",
        "call_ended",
      ];
      const { version, activeAgent: active_agent, turn } = this;
      return {
        protocol: 1,
        agent: "fake",
        features: [...features, ...(this.earlier === null ? [] : ["get_transcript"])],
        [`${noun}_id`]: this.stateId,
        version,
        active_agent,
        turn,
        resume_code: "code",
        ...this.hello,
      };
    }
    if (!this.#greeted) throw refused(4003, "forbidden");
    switch (method) {
      case `${noun}.subscribe`:
        this.#subscribed = true;
        return { version: this.version, [noun]: this.view };
      case `get_${noun}_state`:
        return payload.since === this.version
          ? { version: this.version, unchanged: true }
          : { version: this.version, [noun]: this.view };
      case `${noun}.apply`:
        return this.#once(payload, payload.command, () => this.#apply(payload));
      case "say":
        return this.#once(payload, payload.text, () => this.#say(String(payload.text)));
      case "get_transcript":
        return this.#transcript(Number(payload.before ?? Number.POSITIVE_INFINITY));
      case "refuse_recording":
        return { ok: true };
      case "start_turn":
      case "end_turn":
      case "cancel_turn":
        return { ok: true, turn: this.turn };
      case "set_microphone":
        return { ok: true, mode: payload.mode };
      default:
        throw new CallError(1400, "unsupported method");
    }
  }

  #apply(payload: Record<string, unknown>): Record<string, unknown> {
    if (this.#over) throw refused(4022, "refused", { reason: "call_over" });
    const command = payload.command as C;
    const seen = payload.version;
    const conflict = this.#log.some(
      (one) =>
        typeof seen === "number" &&
        one.version > seen &&
        this.app.conflicts?.(command, one.command),
    );
    if (conflict) throw refused(4009, "version_conflict", { version: this.version });
    this.change(command);
    return { version: this.version, [this.app.noun]: this.view };
  }

  /** The lines before a number, some at a time. */
  #transcript(before: number): Record<string, unknown> {
    const lines = (this.earlier ?? []).filter((line) => line.number < before);
    return { lines: lines.slice(-EARLIER_AT_ONCE), earlier: lines.length > EARLIER_AT_ONCE };
  }

  #say(text: string): Record<string, unknown> {
    if (this.#over) this.#startAgain();
    this.heard.push(text);
    this.turn += 1;
    return { turn: this.turn };
  }

  /** Words after the end of a call start another, about a new state. */
  #startAgain(): void {
    this.#over = this.#subscribed = false;
    this.stateId = `state-${Number(this.stateId.split("-")[1]) + 1}`;
    this.state = this.app.state;
    this.version = this.turn = 0;
    this.#log.length = 0;
  }

  #once(
    payload: Record<string, unknown>,
    asked: unknown,
    act: () => Record<string, unknown>,
  ): Record<string, unknown> {
    const key = payload.key;
    if (typeof key !== "string") return act();
    const request = JSON.stringify(asked);
    const known = this.#keys.get(key);
    if (known === undefined) {
      const reply = act();
      this.#keys.set(key, { request, reply });
      return reply;
    }
    if (known.request !== request) throw refused(4011, "key_reused");
    return known.reply;
  }
}

function stepsBetween(before: object, after: object): Operation[] {
  const [old, now] = [before as Record<string, unknown>, after as Record<string, unknown>];
  const gone = Object.keys(old).filter((name) => !(name in now));
  const changed = Object.keys(now).filter((name) => !equal(old[name], now[name]));
  return [
    ...gone.map((name): Operation => ({ op: "remove", path: `/${escaped(name)}` })),
    ...changed.map(
      (name): Operation => ({
        op: name in old ? "replace" : "add",
        path: `/${escaped(name)}`,
        value: now[name],
      }),
    ),
  ];
}

function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

function listening<T>(
  set: Set<(value: T) => void>,
  listener: (value: T) => void,
  now?: T,
): () => void {
  set.add(listener);
  if (now !== undefined) listener(now);
  return () => set.delete(listener);
}
