/** The way to the agent: finds it, says hello, and makes calls that always end. */

import { AppError, isObject } from "./errors.js";
import type { AgentPresence, Connection, Limits, Problem, Transport } from "./types.js";

export type Payload = Record<string, unknown>;

/** Where a session stands with the agent, apart from the connection. */
export type Phase = "idle" | "meeting" | "met" | "ended" | "failed";

export interface LinkEvents {
  /** The agent has answered `hello` and `subscribe`; returns whether the call goes on or is over. */
  opened(hello: Payload, first: Payload): "met" | "ended";
  /** Another agent is there, or none: what the last one announced no longer counts. */
  agentChanged(): void;
  attributes(attributes: Record<string, string>): void;
  changed(): void;
  bringAgent(): void;
}

export class Link {
  phase: Phase = "idle";
  connection: Connection = "connecting";
  problem: Problem | null = null;
  /** Why the agent does not serve this client. */
  refusal: AppError | null = null;
  #wasConnected = false;
  #agent: AgentPresence = { present: false, id: null, attributes: {} };
  /** Counts the meetings; an earlier one that is still under way gives up. */
  #meeting = 0;
  #met = new Deferred();
  /** When an agent was met last, by `Date.now()`. */
  #metAt = 0;
  #detach: (() => void)[] = [];
  readonly #underWay = new Set<(reason: AppError) => void>();
  readonly #waking = new Set<() => void>();

  constructor(
    private readonly transport: Transport,
    private readonly noun: string,
    private readonly limits: Limits,
    private readonly events: LinkEvents,
  ) {}

  /** Follow the room and meet its agent; again after a failure. Resolves when the agent has answered. */
  start(): Promise<void> {
    if (this.phase === "idle") {
      this.#detach.push(this.transport.onConnection((state) => this.#connectionChanged(state)));
      this.#detach.push(this.transport.onAgent((agent) => this.#agentChanged(agent)));
      this.meet();
    } else if (this.phase === "failed") {
      this.meet();
    }
    return this.#met.promise;
  }

  /** Say hello and subscribe to the agent that is there, or to the one that comes. */
  meet(): void {
    if (this.#met.settled) this.#met = new Deferred();
    this.phase = "meeting";
    this.problem = this.refusal = null;
    this.#meeting += 1;
    this.#giveUpCalls(new AppError(1503, "no_answer", "The agent was replaced."));
    this.#wake();
    void this.#look(this.#meeting);
    this.events.changed();
  }

  /** The call is over; the agent stays for reading. */
  end(): void {
    if (this.phase === "met") this.phase = "ended";
  }

  close(): void {
    for (const detach of this.#detach.splice(0)) detach();
    this.#settle("idle", closed());
    this.connection = "connecting";
    this.#wasConnected = false;
    this.#agent = { present: false, id: null, attributes: {} };
  }

  /**
   * Call the agent once.
   *
   * @throws {AppError} It was refused, or not answered within the limit.
   */
  async call(method: string, payload: Payload, timeoutMs = this.limits.call): Promise<Payload> {
    if (this.phase === "idle") throw closed();
    let reply: unknown;
    try {
      const text = await this.#within(
        timeoutMs,
        this.transport.call(method, JSON.stringify(payload), timeoutMs),
      );
      reply = JSON.parse(text);
    } catch (error) {
      if (error instanceof SyntaxError) throw new AppError(1500, "bad_reply", `${method}: no JSON`);
      throw AppError.from(error);
    }
    if (!isObject(reply)) throw new AppError(1500, "bad_reply", `${method}: no JSON object`);
    return reply;
  }

  /**
   * Make a call whose repetition does no harm, until it is answered.
   *
   * @param payload - Made again for each attempt; what it throws is the outcome.
   * @param until - When to give up, by `Date.now()`.
   * @param options - `settle`: do not give up while the connection or the agent is away; once it may have been carried
   *   out, not even after a failure.
   * @throws {AppError} It was refused, or not answered in time.
   */
  async write(
    method: string,
    payload: () => Payload,
    until: number,
    { timeoutMs, settle = false }: { timeoutMs?: number | undefined; settle?: boolean } = {},
  ): Promise<Payload> {
    let inDoubt = false;
    for (let failures = 0, introduced = false; ; ) {
      await (settle ? this.#reunited(inDoubt) : this.ready(until));
      try {
        return await this.call(method, payload(), timeoutMs);
      } catch (caught) {
        const error = AppError.from(caught);
        inDoubt ||= error.unanswered;
        if (error.code === 4003 && !introduced) {
          introduced = true; // another process may have taken over, to which we have not said hello
          this.meet();
          continue;
        }
        failures += 1;
        const again = error.repeatable || (error.code === 1500 && failures === 1);
        if (!again || this.phase === "idle") throw error;
        const late = Date.now() >= Math.max(until, settle ? this.#metAt + this.limits.write : 0);
        if (late && !(settle && this.#isAway)) throw error;
        if (this.phase === "ended" && this.connection === "disconnected") throw disconnected();
        if (this.phase === "ended" && !this.#agent.present) this.meet();
        await this.#pause(error.retryAfterMs ?? this.limits.pause * Math.min(failures, 8));
      }
    }
  }

  /** Wait until the agent has been met. */
  async ready(until: number): Promise<void> {
    if (this.phase === "idle") throw closed();
    if (this.#met.settled) return this.#met.promise;
    await this.#within(Math.max(until - Date.now(), 0), this.#met.promise, false);
  }

  /** Whether no agent can be asked now, and one may be later. */
  get #isAway(): boolean {
    const { phase, connection } = this;
    return phase === "meeting" || phase === "failed" || connection === "reconnecting";
  }

  /** Wait until an agent has been met, however long that takes; with `always`, also after a failure. */
  async #reunited(always: boolean): Promise<void> {
    while (always && (this.phase === "meeting" || this.phase === "failed")) {
      if (this.refusal !== null) throw this.refusal;
      if (this.phase === "failed") await this.#pause(this.limits.agent);
      else await this.#met.promise.catch(() => {});
    }
    if (this.phase === "idle") throw closed();
    await this.#met.promise;
  }

  async #look(meeting: number): Promise<void> {
    let deadline = Date.now() + this.limits.agent;
    let missingAt = Date.now() + this.limits.missing;
    while (meeting === this.#meeting) {
      if (this.connection !== "connected") {
        await this.#pause(this.limits.agent);
        deadline = Date.now() + this.limits.agent;
        missingAt = Date.now() + this.limits.missing;
        continue;
      }
      if (this.#agent.present) {
        try {
          const hello = await this.call("hello", {});
          const first = await this.call(`${this.noun}.subscribe`, {});
          if (meeting !== this.#meeting) return;
          this.#settle(this.events.opened(hello, first));
          return this.events.changed();
        } catch (caught) {
          const error = AppError.from(caught);
          if (meeting !== this.#meeting) return;
          // 1400: the agent is still arriving.
          if (!error.repeatable && error.code !== 1400) return this.#fail("refused", error);
        }
      } else if (Date.now() >= missingAt) {
        missingAt = Date.now() + this.limits.missing;
        this.events.bringAgent();
      }
      if (Date.now() >= deadline) {
        return this.#fail("no_agent", new AppError(1401, "no_agent", "No agent answered in time."));
      }
      await this.#pause(this.limits.pause);
    }
  }

  #connectionChanged(state: Connection): void {
    if (state === this.connection) return;
    this.connection = state;
    this.#wake();
    if (state === "connected") {
      const again = this.#wasConnected;
      this.#wasConnected = true;
      // After a long loss the agent takes this for a reloaded page, which subscribes by itself. Once a call is
      // over, hello would start another.
      if (again && this.phase !== "ended") return this.meet();
    } else if (state === "disconnected" && this.#wasConnected && this.phase !== "ended") {
      return this.#fail("disconnected", disconnected());
    }
    this.events.changed();
  }

  #agentChanged(agent: AgentPresence): void {
    const another = agent.id !== this.#agent.id;
    this.#agent = agent;
    if (another) {
      this.events.agentChanged();
      const hopeful = this.phase === "failed" && this.problem !== "disconnected" && agent.present;
      if (this.phase === "meeting" || this.phase === "met" || hopeful) this.meet();
    }
    if (agent.present) this.events.attributes(agent.attributes);
    this.#wake();
    this.events.changed();
  }

  #fail(problem: Problem, reason: AppError): void {
    this.problem = problem;
    if (problem === "refused") this.refusal = reason;
    this.#settle("failed", reason);
    this.events.changed();
  }

  #settle(phase: Phase, reason?: AppError): void {
    this.phase = phase;
    this.#meeting += 1;
    if (reason === undefined) {
      this.#metAt = Date.now();
      return this.#met.resolve();
    }
    if (this.#met.settled) this.#met = new Deferred();
    this.#met.reject(reason);
    this.#giveUpCalls(reason);
    this.#wake();
  }

  /** Wait for a result, for at most this long and only as long as the agent stays. */
  #within<T>(ms: number, result: Promise<T>, callUnderWay = true): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const timer = setTimeout(
        () => giveUp(new AppError(1502, "no_answer", "No answer in time.")),
        ms,
      );
      const giveUp = (reason: AppError) => {
        clearTimeout(timer);
        this.#underWay.delete(giveUp);
        reject(reason);
      };
      if (callUnderWay) this.#underWay.add(giveUp);
      result.then(resolve, reject).finally(() => {
        clearTimeout(timer);
        this.#underWay.delete(giveUp);
      });
    });
  }

  #giveUpCalls(reason: AppError): void {
    for (const giveUp of [...this.#underWay]) giveUp(reason);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#waking.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.#waking.add(wake);
    });
  }

  #wake(): void {
    for (const wake of [...this.#waking]) wake();
  }
}

function disconnected(): AppError {
  return new AppError(1505, "disconnected", "The connection has ended.");
}

function closed(): AppError {
  return new AppError(1503, "closed", "The session is closed: start it first.");
}

/** A promise that is settled from outside; a rejection without a listener is no error. */
class Deferred {
  settled = false;
  resolve: () => void = () => {};
  reject: (reason: AppError) => void = () => {};
  readonly promise = new Promise<void>((resolve, reject) => {
    this.resolve = () => {
      this.settled = true;
      resolve();
    };
    this.reject = (reason) => {
      this.settled = true;
      reject(reason);
    };
  });

  constructor() {
    this.promise.catch(() => {});
  }
}
