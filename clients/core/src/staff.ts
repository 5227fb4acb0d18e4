/** The states of an application as staff see them: over HTTP and server-sent events, without a room. */

import { AppError, isObject } from "./errors.js";
import { sharing } from "./json.js";
import { newKey } from "./session.js";

/** Everything a board shows. The same object until something changes. */
export interface BoardSnapshot<S> {
  /** `login`: a password is needed. `reconnecting`: the server does not answer, what is shown may be old. */
  status: "idle" | "connecting" | "live" | "reconnecting" | "login";
  /** Whether the states have come. Before, an empty list does not mean that there are none. */
  loaded: boolean;
  /** Whether a password is needed because the login has ended by itself. */
  expired: boolean;
  /** The newest states, newest first. */
  states: readonly S[];
  /** The settings for all calls that staff may change, by name: `house` of the restaurant. */
  settings: Readonly<Record<string, unknown>>;
  /** How many commands are not answered yet. */
  pending: number;
  /** Why the latest command, login or change was refused; null again with the next one. */
  lastError: AppError | null;
}

export interface BoardOptions {
  /** The application's name for a state, and for several: `order`, `orders`. */
  noun: string;
  plural: string;
  /** Where the page server has its methods for staff. */
  url?: string;
  /** What of a state this client does not know, as in `App`: told to the developer. */
  unknownIn?: (state: object) => string[];
  fetch?: typeof fetch;
  eventSource?: (url: string) => EventSource;
}

/** How long a command is repeated until it is answered, in milliseconds. */
const PERSIST_MS = 15_000;
const PAUSE_MS = 1_000;

/** More than come in a shift: an old one that waits for staff stays on the board. */
const MOST_STATES = 1_000;

export class StaffBoard<S, C extends { op: string } = { op: string }> {
  readonly #options: Required<BoardOptions>;
  readonly #listeners = new Set<() => void>();
  readonly #warned = new Set<string>();
  #snapshot: BoardSnapshot<S> = EMPTY;
  #events: EventSource | null = null;
  #retry: ReturnType<typeof setTimeout> | undefined;
  /** The latest change of a setting; the next one waits for it. */
  #changing: Promise<unknown> = Promise.resolve();

  constructor(options: BoardOptions) {
    this.#options = {
      url: "/api/staff",
      unknownIn: () => [],
      fetch: (...given) => fetch(...given),
      eventSource: (url) => new EventSource(url, { withCredentials: true }),
      ...options,
    };
  }

  readonly getSnapshot = (): BoardSnapshot<S> => this.#snapshot;

  /** Call a listener after each change of the snapshot; returns a function that ends it. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Follow the states; after a loss of the connection again by itself. */
  start(): void {
    if (this.#snapshot.status === "idle") this.#open("connecting");
  }

  close(): void {
    this.#stop();
    this.#set({ status: "idle", loaded: false });
  }

  /**
   * Log in, and follow the states.
   *
   * @throws {AppError} It is not the password (401), or was tried too often (429).
   */
  async login(password: string): Promise<void> {
    await this.#reporting(() => this.#send("POST", "login", { password }));
    this.#set({ expired: false });
    this.#open("connecting");
  }

  async logout(): Promise<void> {
    await this.#reporting(() => this.#send("POST", "logout"));
    this.#askForPassword({ expired: false });
  }

  /**
   * Send a command about one state, repeated with the same key until it is answered.
   *
   * @param options - Without `version`, the version that is shown.
   * @returns The state as the command left it.
   * @throws {AppError} It was refused, or not answered (`unanswered`).
   */
  apply(id: string, command: C, options: { key?: string; version?: number } = {}): Promise<S> {
    const { noun, plural } = this.#options;
    const shown = this.#snapshot.states.find((state) => this.#idOf(state) === id);
    const version = options.version ?? (shown === undefined ? undefined : versionOf(shown));
    const body = {
      ...command,
      key: options.key ?? newKey(),
      ...(version === undefined ? {} : { version }),
    };
    return this.#reporting(async () => {
      const reply = await this.#persistently("POST", `${plural}/${encodeURIComponent(id)}`, body);
      this.#take(reply[noun]);
      return reply[noun] as S;
    });
  }

  /**
   * Change a setting for all calls: `change("house", { paused: true })`. Changes are sent one after the other.
   *
   * @param fields - A function gets the setting as the change before has left it.
   * @throws {AppError} It was refused, or not answered (`unanswered`).
   */
  change(name: string, fields: object | ((now: unknown) => object)): Promise<unknown> {
    const before = this.#changing;
    const done = this.#reporting(async () => {
      await before;
      const sent = typeof fields === "function" ? fields(this.#snapshot.settings[name]) : fields;
      const now = await this.#persistently("PUT", name, sent);
      this.#set({ settings: { ...this.#snapshot.settings, [name]: now } });
      return now;
    });
    this.#changing = done.catch(() => {});
    return done;
  }

  // -- what comes ----------------------------------------------------------------------------------

  #open(status: "connecting" | "reconnecting"): void {
    this.#stop();
    this.#set({ status });
    const { url, noun, plural, eventSource } = this.#options;
    const events = eventSource(`${url}/events`);
    this.#events = events;
    const on = (name: string, take: (data: unknown) => void) =>
      events.addEventListener(name, (event) => {
        if (events !== this.#events) return;
        try {
          take(JSON.parse((event as MessageEvent<string>).data));
        } catch (error) {
          console.warn(`[typed-handoffs] the event ${name} could not be read`, error);
        }
      });
    const followed = new Set<string>();
    on("snapshot", (data) => {
      if (!isObject(data) || !Array.isArray(data[plural])) throw new Error(`it has no ${plural}`);
      const { [plural]: states, ...settings } = data;
      const known = new Map(this.#snapshot.states.map((state) => [this.#idOf(state), state]));
      const shared = (states as S[]).map((state) => sharing(known.get(this.#idOf(state)), state));
      this.#set({ status: "live", loaded: true, states: shared, settings });
      for (const state of shared) this.#noteUnknown(state as object);
      for (const name of Object.keys(settings).filter((one) => !followed.has(one))) {
        followed.add(name);
        on(name, (now) => this.#set({ settings: { ...this.#snapshot.settings, [name]: now } }));
      }
    });
    on(noun, (state) => this.#take(state));
    on("removed", (state) => {
      const id = this.#idOf(state as S);
      this.#set({ states: this.#snapshot.states.filter((one) => this.#idOf(one) !== id) });
    });
    events.onerror = () => {
      if (events === this.#events) void this.#lost(events.readyState === CLOSED);
    };
  }

  /** The browser connects again by itself, unless the answer was an error: it may be the login. */
  async #lost(forGood: boolean): Promise<void> {
    if (!forGood) return this.#set({ status: "reconnecting" });
    // Before the first login it is not a loss.
    if (this.#snapshot.status !== "connecting") this.#set({ status: "reconnecting" });
    const events = this.#events;
    let pause = PAUSE_MS;
    try {
      await this.#send("GET", this.#options.plural);
    } catch (caught) {
      if (events !== this.#events) return;
      const error = AppError.from(caught);
      if (error.code === 401) return this.#askForPassword({ expired: this.#snapshot.loaded });
      pause = error.retryAfterMs ?? PAUSE_MS;
    }
    if (events !== this.#events) return;
    this.#set({ status: "reconnecting" });
    this.#retry = setTimeout(() => this.#open("reconnecting"), pause);
  }

  /** Show a state unless a newer version of it is shown. */
  #take(state: unknown): void {
    if (!isObject(state)) return;
    this.#noteUnknown(state);
    const id = this.#idOf(state as S);
    const { states } = this.#snapshot;
    const index = states.findIndex((one) => this.#idOf(one) === id);
    const known = states[index];
    if (known === undefined) {
      return this.#set({ states: [state as S, ...states].slice(0, MOST_STATES) });
    }
    if (versionOf(state) <= versionOf(known)) return;
    this.#set({ states: states.map((one, at) => (at === index ? sharing(one, state as S) : one)) });
  }

  /** Tell the developer, each thing once. */
  #noteUnknown(state: object): void {
    for (const one of this.#options.unknownIn(state).filter((each) => !this.#warned.has(each))) {
      this.#warned.add(one);
      console.warn(`[typed-handoffs] unknown to this client: ${one}`);
    }
  }

  #idOf(state: S): unknown {
    return (state as Record<string, unknown>)[`${this.#options.noun}_id`];
  }

  #askForPassword({ expired }: { expired: boolean }): void {
    this.#stop();
    this.#set({ status: "login", loaded: false, expired, states: [], settings: {} });
  }

  #stop(): void {
    clearTimeout(this.#retry);
    this.#events?.close();
    this.#events = null;
  }

  // -- what goes -----------------------------------------------------------------------------------

  async #reporting<T>(act: () => Promise<T>): Promise<T> {
    this.#set({ pending: this.#snapshot.pending + 1, lastError: null });
    try {
      const done = await act();
      this.#set({ pending: this.#snapshot.pending - 1 });
      return done;
    } catch (error) {
      const lastError = AppError.from(error);
      this.#set({ pending: this.#snapshot.pending - 1, lastError });
      if (lastError.code === 401 && this.#snapshot.status !== "login" && this.#events !== null) {
        this.#askForPassword({ expired: true });
      }
      throw lastError;
    }
  }

  async #persistently(
    method: string,
    path: string,
    body: object,
  ): Promise<Record<string, unknown>> {
    for (const until = Date.now() + PERSIST_MS; ; ) {
      try {
        return await this.#send(method, path, body);
      } catch (error) {
        const failed = AppError.from(error);
        const again = failed.unanswered || failed.code === 503 || failed.code === 429;
        const pause = failed.retryAfterMs ?? PAUSE_MS;
        if (!again || Date.now() + pause > until) throw failed;
        await new Promise((done) => setTimeout(done, pause));
      }
    }
  }

  async #send(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    let answer: Response;
    let text: string;
    try {
      answer = await this.#options.fetch(`${this.#options.url}/${path}`, {
        method,
        credentials: "include",
        signal: AbortSignal.timeout(PERSIST_MS),
        ...(body
          ? { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }
          : {}),
      });
      text = await answer.text();
    } catch (error) {
      throw new AppError(1505, "no_answer", String(error));
    }
    let told: unknown;
    try {
      told = JSON.parse(text || "{}");
    } catch {
      told = {}; // a proxy's page
    }
    if (answer.ok) return isObject(told) ? told : {};
    const error = isObject(told) && isObject(told.error) ? told.error : {};
    const type = typeof error.type === "string" ? error.type : "failed";
    const detail = typeof error.detail === "string" ? error.detail : answer.statusText;
    const seconds = Number(answer.headers.get("Retry-After") || Number.NaN); // its other form is a date
    const wait = seconds >= 0 ? { retry_after_ms: seconds * 1000 } : {};
    throw new AppError(answer.status, type, detail, { ...wait, ...error });
  }

  #set(parts: Partial<BoardSnapshot<S>>): void {
    this.#snapshot = { ...this.#snapshot, ...parts };
    for (const listener of [...this.#listeners]) listener();
  }
}

/** `EventSource.CLOSED`, which is missing where there is no EventSource. */
const CLOSED = 2;

const EMPTY = {
  status: "idle",
  loaded: false,
  expired: false,
  states: [],
  settings: {},
  pending: 0,
  lastError: null,
} as const;

function versionOf(state: unknown): number {
  const version = isObject(state) ? state.version : undefined;
  return typeof version === "number" ? version : -1;
}
