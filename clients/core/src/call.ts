/** A call through the page server: its token, joining the room, and joining again after a loss. */

/** The room that is joined: `callRoom(room)` for LiveKit. */
export interface CallRoom {
  connect(url: string, token: string): Promise<void>;
  disconnect(): Promise<void>;
  /** Call the listener when the connection has ended; `final` if joining again would be wrong. */
  onEnded(listener: (final: boolean) => void): () => void;
}

/**
 * - `out`: not joined, or left
 * - `joining`: getting a token, or connecting; also after a loss
 * - `joined`: connected, or LiveKit is restoring the connection by itself
 * - `lost`: not connected, see `fault`; `resume` or `join` tries again
 */
export type CallStatus = "out" | "joining" | "joined" | "lost";

/**
 * - `no_server`: the page server or the LiveKit server does not answer
 * - `refused`: the page server gives no token
 * - `too_many`: it has been asked too often
 * - `elsewhere`: the room was closed, or the same user has joined from another device
 */
export type CallFault = "no_server" | "refused" | "too_many" | "elsewhere";

export interface CallSnapshot {
  status: CallStatus;
  fault: CallFault | null;
}

export interface CallOptions {
  /** How long a request or a connection may take, in milliseconds; on React Native some never settle. */
  limit?: number;
  /** The pauses before joining again after a loss, in milliseconds; then it stays `lost`. */
  pauses?: readonly number[];
}

/** The page server gave no token. */
export class TokenError extends Error {
  override readonly name = "TokenError";

  constructor(readonly fault: CallFault) {
    super(fault);
  }
}

interface Token {
  server_url: string;
  participant_token: string;
}

export class Call {
  readonly #room: CallRoom;
  readonly #server: string;
  readonly #limit: number;
  readonly #pauses: readonly number[];
  readonly #listeners = new Set<() => void>();
  #snapshot: CallSnapshot = { status: "out", fault: null };
  /** Counts the attempts; an earlier one that is still under way gives up. */
  #attempt = 0;
  #losses = 0;
  /** Counts the connections that were begun. */
  #connections = 0;
  /** Settles when the latest connection has settled or its limit has passed. */
  #connecting: Promise<void> = Promise.resolve();
  /** Settles when the page server has been told of the latest leaving. */
  #leaving: Promise<void> = Promise.resolve();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * Nothing happens before `join`.
   *
   * @param room - The room; one call at a time may use it.
   * @param server - The page server's address, such as `https://example.com`; empty for a page's own.
   * @param options - Time limits and pauses.
   */
  constructor(room: CallRoom, server: string, options: CallOptions = {}) {
    this.#room = room;
    this.#server = server.replace(/\/+$/, "");
    this.#limit = options.limit ?? 20_000;
    this.#pauses = options.pauses ?? [500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000];
    room.onEnded((final) => this.#ended(final));
  }

  /** How the call stands; the same object until it changes. */
  readonly getSnapshot = (): CallSnapshot => this.#snapshot;

  /** Call a listener after each change; returns a function that ends it. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Join the room, unless that is done or under way. A failure is told by the snapshot. */
  async join(): Promise<void> {
    const { status } = this.#snapshot;
    if (status === "joined" || status === "joining") return;
    this.#losses = 0;
    await this.#try();
  }

  /** Join again at once if the call was lost: the app is in front again, or the network is another one. */
  async resume(): Promise<void> {
    const waiting = this.#timer !== undefined;
    if (!waiting && (this.#snapshot.status !== "lost" || this.#snapshot.fault === "elsewhere"))
      return;
    this.#losses = 0;
    await this.#try();
  }

  /** Disconnect: the next `join` comes back to the same room. */
  async close(): Promise<void> {
    this.#stop();
    this.#show("out", null);
    this.#leaving = this.#disconnect();
    await this.#leaving;
  }

  /** Leave the call for good: the next one has another room. */
  async leave(): Promise<void> {
    const closed = this.close();
    this.#leaving = closed.then(async () => {
      await this.#post("/api/leave").catch(() => {}); // no reason to stay
    });
    await this.#leaving;
  }

  /** Ask the page server for an agent; for the session's `bringAgent`. */
  readonly bringAgent = async (): Promise<void> => {
    await this.#post("/api/agent");
  };

  #stop(): void {
    this.#attempt += 1;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #try(): Promise<void> {
    this.#stop();
    const attempt = this.#attempt;
    this.#show("joining", null);
    try {
      // A token asked for before that would be for the room that is left.
      await Promise.all([this.#leaving, this.#connecting]);
      if (attempt !== this.#attempt) return;
      const token = await this.#token();
      if (attempt !== this.#attempt) return;
      await this.#connect(attempt, token);
      if (attempt !== this.#attempt) return;
      this.#losses = 0;
      this.#show("joined", null);
    } catch (error) {
      if (attempt !== this.#attempt) return;
      this.#stop();
      await this.#disconnect();
      if (this.#attempt === attempt + 1)
        this.#failed(error instanceof TokenError ? error.fault : "no_server");
    }
  }

  #connect(attempt: number, token: Token): Promise<void> {
    this.#connections += 1;
    const number = this.#connections;
    const connection = this.#room.connect(token.server_url, token.participant_token);
    const settled = connection.then(
      async () => {
        if (attempt === this.#attempt) return;
        await this.#disconnect(); // too late: it is the room of an attempt that was given up
        const { status } = this.#snapshot;
        const underWay = status === "joining" || status === "joined";
        // It was the connection of a later attempt as well.
        if (number !== this.#connections && underWay && this.#timer === undefined) void this.#try();
      },
      () => {},
    );
    const late = new TokenError("no_server");
    this.#connecting = within(this.#limit, settled, late).catch(() => {});
    return within(this.#limit, connection, late);
  }

  async #disconnect(): Promise<void> {
    const late = new TokenError("no_server");
    await within(this.#limit, this.#room.disconnect(), late).catch(() => {});
  }

  #ended(final: boolean): void {
    if (this.#snapshot.status !== "joined") return;
    if (final) {
      this.#stop();
      this.#show("lost", "elsewhere");
    } else this.#failed("no_server");
  }

  /** Try again after a pause, as long as trying again may help. */
  #failed(fault: CallFault): void {
    const pause = fault === "refused" ? undefined : this.#pauses[this.#losses];
    if (pause === undefined) {
      this.#show("lost", fault);
      return;
    }
    this.#losses += 1;
    this.#show("joining", fault);
    this.#timer = setTimeout(() => void this.#try(), pause);
  }

  async #token(): Promise<Token> {
    const answer = await this.#post("/api/token");
    if (answer.status === 429) throw new TokenError("too_many");
    if (answer.status >= 500) throw new TokenError("no_server");
    if (!answer.ok) throw new TokenError("refused");
    return within(this.#limit, answer.json(), new TokenError("no_server"));
  }

  #post(path: string): Promise<Response> {
    const headers = { "Content-Type": "application/json" };
    // React Native keeps the cookie, as a browser does: the same guest comes back to the same room.
    const request = fetch(this.#server + path, { method: "POST", headers, body: "{}" });
    return within(this.#limit, request, new TokenError("no_server"));
  }

  #show(status: CallStatus, fault: CallFault | null): void {
    if (this.#snapshot.status === status && this.#snapshot.fault === fault) return;
    this.#snapshot = { status, fault };
    for (const listener of [...this.#listeners]) listener();
  }
}

async function within<T>(limitMs: number, promise: Promise<T>, late: Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late), limitMs);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
