/** One user's conversation with an agent, and the state that it is about. */

import { AppError, isObject } from "./errors.js";
import type { Operation } from "./json.js";
import { Link, type Payload } from "./link.js";
import { type Edit, Store } from "./store.js";
import { MOST_LINES, Transcript } from "./transcript.js";
import type {
  App,
  Change,
  EarlierLine,
  Expects,
  Hello,
  Limits,
  SessionOptions,
  Snapshot,
  Status,
  Transport,
  Turn,
} from "./types.js";
import { completed } from "./unknown.js";

const LIMITS: Limits = { agent: 40_000, missing: 5_000, call: 10_000, write: 30_000, pause: 250 };

/** The protocol that this client was written for. */
const PROTOCOL = 1;

/** The method that returns what was said, and the feature of agents that have it. */
const GET_TRANSCRIPT = "get_transcript";

const EXPECTS: readonly Expects[] = [
  "open",
  "yes_no",
  "choice",
  "rating",
  "amount",
  "name",
  "contact",
];

/** How often an edit that came too late is sent again. */
const REBASES = 3;

export class AgentSession<S, C extends { op: string } = { op: string }> {
  readonly #transport: Transport;
  readonly #app: App<S, C>;
  readonly #options: SessionOptions;
  readonly #limits: Limits;
  readonly #link: Link;
  readonly #store: Store<S, C>;
  readonly #transcript = new Transcript();
  readonly #listeners = new Set<() => void>();
  readonly #changeListeners = new Set<(change: Change<S>) => void>();
  readonly #warned = new Set<string>();
  #detach: (() => void)[] = [];

  #snapshot: Snapshot<S>;
  #hello: Hello | null = null;
  #turn: Turn | null = null;
  #activeAgent: string | null = null;
  /** The version of the state with which the active agent was told. */
  #activeSince = -1;
  #ended: Snapshot<S>["ended"] = null;
  #endedWhileMeeting = false;
  #lastError: AppError | null = null;
  #catchingUp: Promise<void> | null = null;
  /** Reads what was said before; null until that begins. */
  #restored: Promise<void> | null = null;
  /** Whether a reply may have been under way then: the agent keeps it at its end. */
  #partly = false;
  /** Whether words may have been missed during a loss of the connection. */
  #missed = false;
  /** The newest turn that was heard of, and the one from which on words may have been missed. */
  #newestTurn = 0;
  #since = 0;
  #sending = false;

  /**
   * Nothing happens before `start`.
   *
   * @param transport - The connection to the agent.
   * @param app - The application.
   * @param options - Time limits, how to bring an agent, where to warn.
   */
  constructor(transport: Transport, app: App<S, C>, options: SessionOptions = {}) {
    this.#transport = transport;
    this.#app = app;
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#store = new Store(
      (view) => this.#read(view),
      (state, command) => this.#foresee(state, command),
      (change) => this.#changed(change),
    );
    this.#link = new Link(transport, app.noun, this.#limits, {
      opened: (hello, first) => this.#opened(hello, first),
      agentChanged: () => {
        this.#turn = null;
      },
      attributes: (attributes) => this.#attributesChanged(attributes),
      changed: () => {
        if (this.#link.connection !== "connected") this.#lost();
        this.#update();
        if (this.#link.phase === "met" && this.#store.missedSomething) void this.#catchUp();
      },
      bringAgent: () => {
        options.bringAgent?.().catch((error) => this.#warn("no agent could be brought", error));
      },
    });
    this.#snapshot = this.#look();
  }

  // -- for pages -----------------------------------------------------------------------------------

  /** Everything a page shows; the same object until something changes. */
  readonly getSnapshot = (): Snapshot<S> => this.#snapshot;

  /** Call a listener after each change of the snapshot; returns a function that ends it. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Call a listener with each new version of the state; returns a function that ends it. */
  onChange(listener: (change: Change<S>) => void): () => void {
    this.#changeListeners.add(listener);
    return () => this.#changeListeners.delete(listener);
  }

  /**
   * Join the call: say hello to the agent, subscribe to the state, and keep both up.
   *
   * Call it before or after connecting the room, and again to retry after a failure. Resolves when ready.
   *
   * @throws {AppError} No agent came in time, or it does not serve this client.
   */
  async start(): Promise<void> {
    if (this.#detach.length === 0) this.#attach();
    return this.#link.start();
  }

  /** Stop following the call; `start` begins again. The room stays connected. */
  close(): void {
    for (const detach of this.#detach.splice(0)) detach();
    this.#link.close();
    this.#lost();
    this.#turn = null;
    this.#update();
  }

  /**
   * Say something, as if spoken; after the end of a call this starts another.
   *
   * It is repeated with the same key until it is answered, also by another agent process, and acted on once: after a
   * loss of the connection when that is back, however long it takes. The promise may be ignored: `lastError` has the
   * reason of a refusal.
   *
   * @throws {AppError} It was refused; or not answered in time (`unanswered`), and may have been heard.
   */
  say(text: string, options: { key?: string } = {}): Promise<{ turn: number }> {
    const done = this.#say(text, options.key ?? newKey());
    done.catch(() => {}); // told by lastError
    return done;
  }

  async #say(text: string, key: string): Promise<{ turn: number }> {
    this.#transcript.typed(key, text);
    this.#lastError = null;
    this.#update();
    try {
      const reply = await this.#link.write("say", () => ({ text, key }), this.#deadline(), {
        settle: true,
      });
      const turn = asNumber(reply.turn);
      this.#newestTurn = Math.max(this.#newestTurn, turn);
      this.#transcript.accepted(key, turn);
      if (this.#turn?.yours && this.#turn.turn < turn) this.#turn = { ...this.#turn, yours: false };
      if (this.#link.phase === "ended") this.#link.meet(); // these words have started another call
      return { turn };
    } catch (caught) {
      const error = AppError.from(caught);
      this.#transcript.rejected(key);
      this.#lastError = error;
      throw error;
    } finally {
      this.#update();
    }
  }

  /**
   * Change the state by a command, or by several, each after the one before.
   *
   * It is shown at once where it can be foreseen, and taken back if it is refused. If something has changed
   * meanwhile, it is sent again as long as its author saw what is there now at the places it changes. While the
   * connection is lost, one that may have been carried out counts as `pending`. The promise may be ignored: `lastError`
   * has the reason of a refusal.
   *
   * @param options - `version` replaces the version that the author of the first command is taken to have seen.
   * @returns The state as the last command left it.
   * @throws {AppError} It was refused; or not answered in time (`unanswered`), and may have been carried out.
   */
  apply(command: C | readonly C[], options: { key?: string; version?: number } = {}): Promise<S> {
    const commands: readonly C[] = isList(command) ? command : [command];
    const key = options.key ?? newKey();
    const done = (async () => {
      let state: S | null = this.#store.confirmed;
      for (const [index, one] of commands.entries()) {
        state =
          index === 0
            ? await this.#applyOne(one, key, options.version)
            : await this.#applyOne(one, `${key}:${index}`, undefined);
      }
      return state as S;
    })();
    done.catch(() => {}); // told by lastError
    return done;
  }

  /**
   * Call a method of the application, such as `get_menu`.
   *
   * A `get_...` method, and one with a `key` in its payload, is repeated if it is not answered.
   *
   * @throws {AppError} It was refused or not answered.
   */
  async request<R>(
    method: string,
    payload: object = {},
    options: { timeoutMs?: number } = {},
  ): Promise<R> {
    const fields = { ...payload };
    const until = this.#deadline();
    if (/(^|\.)get_/.test(method) || "key" in fields) {
      return (await this.#link.write(method, () => fields, until, options)) as R;
    }
    await this.#link.ready(until);
    return (await this.#link.call(method, fields, options.timeoutMs)) as R;
  }

  /** Begin to speak (push-to-talk). */
  startTurn(): Promise<void> {
    return this.#control("start_turn");
  }

  /** End the turn: the agent answers what was said since `startTurn`. */
  endTurn(): Promise<void> {
    return this.#control("end_turn");
  }

  /** End the turn and drop what was said since `startTurn`. */
  cancelTurn(): Promise<void> {
    return this.#control("cancel_turn");
  }

  /** Choose who ends the user's turn: the agent that listens, or the user by `endTurn`. */
  setMicrophone(mode: "open" | "push_to_talk"): Promise<void> {
    return this.#control("set_microphone", { mode });
  }

  /**
   * Refuse that the call is recorded, while `features` has `recorded`; what was recorded is deleted.
   *
   * @throws {AppError} It was not answered.
   */
  async refuseRecording(): Promise<void> {
    await this.#link.write("refuse_recording", () => ({}), this.#deadline());
    this.#recordingEnded();
    this.#update();
  }

  #recordingEnded(): void {
    if (!this.#hello?.features.includes("recorded")) return;
    const features = this.#hello.features.filter((one) => one !== "recorded");
    this.#hello = { ...this.#hello, features };
  }

  async #control(method: string, payload: Payload = {}): Promise<void> {
    await this.#link.ready(this.#deadline());
    if (!this.#hello?.features.includes("push_to_talk")) {
      throw new AppError(1400, "not_offered", "This agent offers no push-to-talk.");
    }
    await this.#link.call(method, payload);
  }

  // -- edits ---------------------------------------------------------------------------------------

  #applyOne(command: C, key: string, named: number | undefined): Promise<S> {
    return new Promise((resolve, reject) => {
      const seen = this.#store.seenBy(command);
      const edit: Edit<S, C> = {
        command,
        key,
        named,
        ...seen,
        until: this.#deadline(),
        resolve,
        reject,
      };
      this.#store.edits = [...this.#store.edits, edit];
      this.#lastError = null;
      this.#update();
      void this.#send();
    });
  }

  /** Send the edits that wait, one after the other. */
  async #send(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    for (let edit = this.#store.edits[0]; edit !== undefined; edit = this.#store.edits[0]) {
      try {
        const [version, view] = await this.#sendOne(edit);
        this.#done(edit);
        if (this.#isPresent(view)) this.#store.take(version, view, true);
        edit.resolve(view);
      } catch (caught) {
        const error = AppError.from(caught);
        this.#done(edit);
        this.#lastError = error;
        edit.reject(error);
        // The agent knows whether it was carried out.
        if (error.unanswered) void this.#catchUp(this.#store.version + 1);
      }
      this.#update();
    }
    this.#sending = false;
  }

  async #sendOne(edit: Edit<S, C>): Promise<[number, S]> {
    const { noun } = this.#app;
    for (let rebases = 0; ; rebases += 1) {
      let version: number | undefined;
      const payload = () => {
        if (edit.stateId !== null && edit.stateId !== this.#store.id) {
          throw new AppError(
            4004,
            "not_found",
            `The ${noun} that this was meant for is no longer open.`,
          );
        }
        version = this.#store.seenVersion(edit);
        return {
          command: edit.command,
          key: edit.key,
          ...(version === undefined ? {} : { version }),
        };
      };
      try {
        const reply = await this.#link.write(`${noun}.apply`, payload, edit.until, {
          settle: true,
        });
        if (!isObject(reply[noun]))
          throw new AppError(5004, "bad_reply", `${noun}.apply has sent no ${noun}`);
        return [asNumber(reply.version), this.#read(reply[noun] as S)];
      } catch (caught) {
        const error = AppError.from(caught);
        if (error.code !== 4009 || rebases === REBASES) throw error;
        await this.#catchUp(error.version ?? this.#store.version + 1);
        if (this.#store.seenVersion(edit) === version) throw error;
      }
    }
  }

  #done(edit: Edit<S, C>): void {
    this.#store.edits = this.#store.edits.filter((one) => one !== edit);
  }

  /** Whether a view is of the state that is open now: a known key may be answered about an earlier one. */
  #isPresent(view: S): boolean {
    const id = asText((view as Payload)[`${this.#app.noun}_id`]);
    return id === null || id === this.#store.id;
  }

  /** Whatever the version of the agent, the page sees a whole state. */
  #read(view: S): S {
    const tell = (field: string) => this.#warn(`an older agent does not send ${field}`);
    return completed(view as object, this.#app.empty ?? {}, tell) as S;
  }

  #foresee(state: S, command: C): S | null {
    try {
      return this.#app.optimistic?.(state, command) ?? null;
    } catch (error) {
      this.#warn(`optimistic(${command.op}) failed`, error);
      return null;
    }
  }

  // -- what the agent tells ------------------------------------------------------------------------

  #attach(): void {
    const transport = this.#transport;
    const handle = (method: string, take: (payload: Payload) => void) => {
      const detach = transport.handle(method, async (text) => {
        try {
          const payload: unknown = JSON.parse(text);
          if (!isObject(payload)) throw new Error("no JSON object");
          take(payload);
        } catch (error) {
          this.#warn(`${method} could not be read`, error);
        }
        this.#update();
        return "";
      });
      this.#detach.push(detach);
    };
    try {
      handle(`${this.#app.noun}_state_changed`, (payload) => this.#stateChanged(payload));
      handle("your_turn_to_speak", (payload) => this.#turnChanged(payload));
      handle("call_ended", (payload) => this.#callEnded(payload));
      this.#detach.push(
        transport.onTranscription((piece) => {
          if (this.#transcript.take(piece, this.#activeAgent)) this.#update();
        }),
      );
    } catch (error) {
      this.close();
      throw error;
    }
  }

  #opened(hello: Payload, first: Payload): "met" | "ended" {
    const { noun } = this.#app;
    const view = first[noun];
    if (!isObject(view))
      throw new AppError(5003, "bad_reply", `${noun}.subscribe has sent no ${noun}`);
    const version = asNumber(first.version);
    const protocol = asNumber(hello.protocol, 0);
    if (protocol > PROTOCOL) {
      this.#warn(
        `the agent speaks protocol ${protocol}, this client ${PROTOCOL}: a newer client is needed`,
      );
    }
    this.#hello = {
      ...hello,
      protocol,
      agent: asText(hello.agent) ?? "",
      features: Array.isArray(hello.features) ? hello.features.map(String) : [],
      version: asNumber(hello.version, version),
      active_agent: asText(hello.active_agent),
      turn: asNumber(hello.turn, 0),
      resume_code: asText(hello.resume_code),
    };
    this.#activeSince = -1;
    this.#noteAgent(hello.active_agent, asNumber(hello.version, version));
    const id = asText(hello[`${noun}_id`]) ?? asText(view[`${noun}_id`]);
    // An end that was told while saying hello is this call's, if the state is the same. After an end by the agent the
    // next call has another state, and with it another code: a call may end before it is met.
    const sameCode = this.#ended?.resumeCode === (this.#hello.resume_code ?? "");
    const over =
      (this.#endedWhileMeeting && id === this.#store.id) ||
      (this.#ended?.reason === "agent_ended" && sameCode);
    if (!over) this.#ended = null;
    if (id !== this.#store.id) {
      this.#missed = false; // what an earlier call has missed is not told
      this.#transcript.recounted();
      this.#newestTurn = this.#since = this.#hello.turn;
    } else if (this.#hello.turn < this.#newestTurn) {
      this.#transcript.recounted();
      this.#newestTurn = this.#hello.turn;
      this.#since = 0;
    }
    this.#endedWhileMeeting = false;
    this.#store.open(id, version, view as S);
    this.#noteUnknown();
    if (this.#hello.features.includes(GET_TRANSCRIPT)) {
      if (this.#restored === null) {
        this.#partly = true;
        this.#missed = false;
        this.#restored = this.#restore(this.#since);
      } else if (this.#missed) {
        this.#partly = true;
        this.#restored = this.#restored.then(() => this.#fill());
      }
    }
    return over ? "ended" : "met";
  }

  /** Read what was said before this client was there, the newest lines first. */
  async #restore(turn: number): Promise<void> {
    const transcript = this.#transcript;
    try {
      for (let before: number | undefined; ; ) {
        const { lines, earlier } = await this.#said(before === undefined ? {} : { before });
        if (before === undefined) transcript.put(lines, turn);
        else transcript.precede(lines);
        this.#update();
        before = lines[0]?.number;
        if (!earlier || before === undefined) return;
        if (transcript.lines.length >= MOST_LINES) return;
      }
    } catch (error) {
      this.#restored = null; // the next agent that is met is asked
      this.#warn("what was said before could not be read", error);
    }
  }

  /** Words may be missed from now on. */
  #lost(): void {
    this.#transcript.lost();
    if (!this.#missed) this.#since = this.#newestTurn;
    this.#missed = true;
  }

  /** Read again what was said, and put in what was missed; once more at the end of the reply that is under way. */
  async #fill(): Promise<void> {
    if (this.#restored === null) return; // the next agent tells all
    const told: EarlierLine[] = [];
    try {
      for (let before: number | undefined; ; ) {
        const { lines, earlier } = await this.#said(before === undefined ? {} : { before });
        told.unshift(...lines);
        before = lines[0]?.number;
        if (!earlier || before === undefined || told.length >= MOST_LINES) break;
        if (Number(lines[0]?.turn) < this.#since) break;
      }
      const since = this.#since;
      this.#transcript.put(
        told.filter((line) => line.turn >= since),
        since,
      );
      this.#missed = false;
      this.#update();
    } catch (error) {
      this.#warn("what was said before could not be read", error);
    }
  }

  async #said(asked: Payload): Promise<{ lines: EarlierLine[]; earlier: boolean }> {
    const reply = await this.#link.write(GET_TRANSCRIPT, () => asked, this.#deadline(), {
      settle: true,
    });
    const lines = (Array.isArray(reply.lines) ? reply.lines : []) as EarlierLine[];
    return { lines, earlier: reply.earlier === true };
  }

  #stateChanged(payload: Payload): void {
    const [base, version] = [asNumber(payload.base_version), asNumber(payload.version)];
    const patch = payload.patch as readonly Operation[];
    if (this.#link.phase === "meeting") {
      this.#heardOf(version); // the reply to subscribe may be older
      return;
    }
    try {
      if (!this.#store.patch(base, version, patch)) void this.#catchUp(version);
    } catch (error) {
      this.#warn("a patch does not fit; the whole state is read", error);
      void this.#catchUp(version, true);
    }
  }

  #turnChanged(payload: Payload): void {
    const turn = asNumber(payload.turn);
    if (this.#link.phase === "ended" && payload.your_turn === true) this.#link.meet(); // another call has begun
    if (payload.your_turn !== true) {
      if (this.#turn !== null && turn >= this.#turn.turn)
        this.#turn = { ...this.#turn, yours: false };
      return;
    }
    if (this.#turn !== null && turn < this.#turn.turn) return; // came late
    const expects = EXPECTS.find((one) => one === payload.expects);
    if (expects === undefined)
      this.#warn(`the agent expects ${String(payload.expects)}, unknown here`);
    this.#newestTurn = Math.max(this.#newestTurn, turn);
    const agent = asText(payload.active_agent) ?? this.#activeAgent ?? "";
    this.#turn = {
      turn,
      yours: true,
      agent,
      expects: expects ?? "open",
      ...(Array.isArray(payload.choices) ? { choices: payload.choices.map(String) } : {}),
      ...(typeof payload.text === "string" ? { text: payload.text } : {}),
    };
    const version = asNumber(payload.version);
    this.#noteAgent(agent, version);
    this.#transcript.silent();
    if (this.#partly) {
      this.#partly = false;
      void this.#restored?.then(() => this.#fill());
    }
    void this.#catchUp(version);
  }

  #callEnded(payload: Payload): void {
    const code = asText(payload.resume_code);
    this.#ended = {
      reason: asText(payload.reason) ?? "failed",
      ...(code ? { resumeCode: code } : {}),
    };
    this.#turn = null;
    this.#transcript.recounted();
    if (this.#link.phase === "meeting") this.#endedWhileMeeting = true;
    this.#link.end();
  }

  #attributesChanged(attributes: Record<string, string>): void {
    const named = (name: string) =>
      Object.entries(attributes).find(([key]) => key.endsWith(`.${name}`))?.[1];
    // The same change is pushed as well; this finds it if the push is lost.
    const version = Number(named("version") ?? this.#activeSince) || 0;
    this.#heardOf(version);
    this.#noteAgent(named("active_agent"), version);
    if (named("recorded") === "false") this.#recordingEnded(); // the user has said so
    if (this.#store.missedSomething && this.#link.phase === "met") {
      setTimeout(() => void this.#catchUp(), this.#limits.pause);
    }
  }

  /** Attributes, notices and changes come by different ways: what is older takes nothing back. */
  #noteAgent(name: unknown, version: number): void {
    if (typeof name !== "string" || version < this.#activeSince) return;
    this.#activeAgent = name;
    this.#activeSince = version;
  }

  #heardOf(version: number): void {
    if (version > this.#store.newest) this.#store.newest = version;
  }

  /** Read what was missed until the newest version that was heard of is there. */
  #catchUp(version = -1, all = false): Promise<void> {
    this.#heardOf(version);
    this.#catchingUp ??= this.#readMissed(all).finally(() => {
      this.#catchingUp = null;
    });
    return this.#catchingUp;
  }

  async #readMissed(all: boolean): Promise<void> {
    const { noun } = this.#app;
    const store = this.#store;
    let whole = all;
    while (store.missedSomething && (this.#link.phase === "met" || this.#link.phase === "ended")) {
      const [id, since] = [store.id, store.version];
      let reply: Payload;
      try {
        const payload = whole ? {} : { since };
        reply = await this.#link.write(`get_${noun}_state`, () => payload, this.#deadline());
      } catch (error) {
        this.#warn(`the ${noun} could not be read`, error);
        return;
      }
      if (store.id !== id) continue;
      const [view, present] = [reply[noun], asNumber(reply.version)];
      if (isObject(view)) {
        store.take(present, view as S, false);
      } else if (Array.isArray(reply.patch)) {
        try {
          const patch = reply.patch as Operation[];
          if (!store.patch(asNumber(reply.base_version), present, patch)) whole = true;
        } catch (error) {
          if (whole) throw error;
          this.#warn("a patch does not fit; the whole state is read", error);
          whole = true;
          continue;
        }
      }
      store.newest = Math.min(store.newest, Math.max(store.version, present));
      this.#update();
    }
  }

  // -- for pages: what has changed -----------------------------------------------------------------

  #changed(change: Change<S>): void {
    this.#noteAgent((change.after as Payload).active_agent, change.version);
    this.#noteUnknown();
    this.#update();
    for (const listener of [...this.#changeListeners]) this.#tell(() => listener(change));
  }

  #update(): void {
    const next = this.#look();
    const before = this.#snapshot;
    const keys = Object.keys(next) as (keyof Snapshot<S>)[];
    if (keys.every((key) => Object.is(next[key], before[key]))) return;
    this.#snapshot = next;
    for (const listener of [...this.#listeners]) this.#tell(listener);
  }

  #tell(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.#warn("a listener failed", error);
    }
  }

  #look(): Snapshot<S> {
    const { edits, confirmed, version } = this.#store;
    return {
      status: this.#status(),
      state: this.#store.shown(),
      confirmed,
      version: Math.max(version, 0),
      pending: edits.length,
      lastError: this.#lastError ?? this.#link.refusal,
      turn: this.#turn,
      activeAgent: this.#activeAgent,
      lines: this.#transcript.lines,
      features: this.#hello?.features ?? NONE,
      ended: this.#ended,
      hello: this.#hello,
      problem: this.#link.problem,
    };
  }

  #status(): Status {
    const { phase, connection } = this.#link;
    if (phase === "idle" || phase === "failed" || phase === "ended") return phase;
    if (connection === "connected") return phase === "met" ? "ready" : "waiting_for_agent";
    return this.#hello === null ? "connecting" : "reconnecting";
  }

  #noteUnknown(): void {
    const state = this.#store.confirmed;
    if (state === null) return;
    try {
      for (const one of this.#app.unknownIn?.(state) ?? [])
        this.#warn(`unknown to this client: ${one}`);
    } catch (error) {
      this.#warn("unknownIn failed", error);
    }
  }

  /** Tell the developer, each thing once. */
  #warn(message: string, detail?: unknown): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    const warn =
      this.#options.warn ?? ((...told: unknown[]) => console.warn("[typed-handoffs]", ...told));
    if (detail === undefined) warn(message);
    else warn(message, detail);
  }

  #deadline(): number {
    return Date.now() + this.#limits.write;
  }
}

const NONE: readonly string[] = [];

function asText(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function asNumber(value: unknown, missing = -1): number {
  return Number.isFinite(value) ? Number(value) : missing;
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}

/** An idempotency key; `crypto.randomUUID` is missing on React Native and on pages without TLS. */
export function newKey(): string {
  const part = () => Math.random().toString(36).slice(2, 12);
  return globalThis.crypto?.randomUUID?.() ?? `${Date.now().toString(36)}-${part()}${part()}`;
}
