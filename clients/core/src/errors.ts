/** The errors that a call can be answered with. */

/** A transport's error: the agent's own code, or one of LiveKit's (1400 to 1505). */
export class CallError extends Error {
  override readonly name = "CallError";

  constructor(
    readonly code: number,
    message = "",
    /** The error object as JSON text, if the agent sent one. */
    readonly data?: string,
  ) {
    super(message || `call failed with ${code}`);
  }
}

/** Codes of calls that did not reach the agent, or whose answer did not reach us. */
const LINK = new Set([1401, 1501, 1502, 1503, 1505]);

/** Why a request failed: `code`, `type`, `reason` and `facts` for programs, `detail` for people. */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly code: number;
  readonly type: string;
  readonly reason?: string;
  readonly facts?: Record<string, unknown>;
  readonly detail: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly version?: number;

  constructor(code: number, type: string, detail: string, told: Record<string, unknown> = {}) {
    super(`${code} ${type}: ${detail}`);
    this.code = code;
    this.type = type;
    this.detail = detail;
    this.retryable = told.retryable === true;
    if (typeof told.reason === "string") this.reason = told.reason;
    if (isObject(told.facts)) this.facts = told.facts;
    if (typeof told.retry_after_ms === "number") this.retryAfterMs = told.retry_after_ms;
    if (typeof told.version === "number") this.version = told.version;
  }

  /** Whether it is unknown if the request was carried out. */
  get unanswered(): boolean {
    return LINK.has(this.code) || this.code === 5004;
  }

  /** Whether the same request, with the same key, may be sent again as it is. */
  get repeatable(): boolean {
    return this.unanswered || this.code === 5003 || (this.retryable && this.code !== 4009);
  }

  /** Read a transport's error; an older or newer agent's may lack anything but the code. */
  static from(error: unknown): AppError {
    if (error instanceof AppError) return error;
    if (!(error instanceof CallError)) return new AppError(1505, "no_answer", String(error));
    if (LINK.has(error.code)) return new AppError(error.code, "no_answer", error.message);
    let told: Record<string, unknown> = {};
    try {
      const parsed: unknown = JSON.parse(error.data || "{}");
      if (isObject(parsed)) told = parsed;
    } catch {
      // the code says enough
    }
    const type = typeof told.type === "string" ? told.type : "failed";
    return new AppError(
      error.code,
      type,
      typeof told.detail === "string" ? told.detail : error.message,
      told,
    );
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
