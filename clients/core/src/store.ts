/** The state: as the agent confirmed it, and with the edits on top that it has not answered yet. */

import type { AppError } from "./errors.js";
import {
  differences,
  equal,
  type Operation,
  type Place,
  patched,
  sharing,
  valueAt,
} from "./json.js";
import type { Change } from "./types.js";

/** A command on its way to the agent. */
export interface Edit<S, C> {
  readonly command: C;
  readonly key: string;
  /** The version that its author named, instead of the one they saw. */
  readonly named: number | undefined;
  /** The id of the state that its author saw; null if they saw none. */
  readonly stateId: string | null;
  readonly seen: number;
  /** The values that the author saw at the places that the command changes; null if unforeseen. */
  readonly saw: ReadonlyMap<Place, unknown> | null;
  readonly until: number;
  readonly resolve: (state: S) => void;
  readonly reject: (error: AppError) => void;
}

export class Store<S, C> {
  /** The id of the state, such as an order's. */
  id: string | null = null;
  version = -1;
  confirmed: S | null = null;
  /** The newest version heard of; if it is above `version`, something was missed. */
  newest = -1;
  /** The edits that are not answered yet, oldest first. */
  edits: readonly Edit<S, C>[] = [];
  readonly #own = new Set<number>();
  #shown: { confirmed: S | null; edits: readonly Edit<S, C>[]; state: S | null } | null = null;

  constructor(
    /** Reads what another program has sent as a state. */
    private readonly read: (view: S) => S,
    private readonly optimistic: (state: S, command: C) => S | null,
    private readonly changed: (change: Change<S>) => void,
  ) {}

  get missedSomething(): boolean {
    return this.newest > this.version;
  }

  /** The confirmed state with the edits on top. */
  shown(): S | null {
    const { confirmed, edits } = this;
    if (
      this.#shown === null ||
      this.#shown.confirmed !== confirmed ||
      this.#shown.edits !== edits
    ) {
      const state = edits
        .filter((edit) => edit.stateId === this.id)
        .reduce<S | null>(
          (shown, { command }) => shown && (this.optimistic(shown, command) ?? shown),
          confirmed,
        );
      this.#shown = { confirmed, edits, state };
    }
    return this.#shown.state;
  }

  /** Begin with what an agent answered to `subscribe`; another agent may be about another state. */
  open(id: string | null, version: number, view: S): void {
    if (id !== this.id) {
      this.confirmed = null;
      this.#own.clear();
    }
    const before = this.confirmed;
    const base = this.version;
    this.id = id;
    this.version = version;
    this.confirmed = sharing(before, this.read(view));
    if (before !== null && before !== this.confirmed)
      this.#report(base, whole(view), before, false);
  }

  /** Take a whole state; an older one than the present is dropped. */
  take(version: number, view: S, own: boolean): void {
    if (own) this.#own.add(version);
    if (version <= this.version || this.confirmed === null) return;
    this.#set(version, view, whole(view), own);
  }

  /**
   * Take a change; returns false if it does not follow the present version.
   *
   * @throws {Error} The patch does not fit the state.
   */
  patch(base: number, version: number, patch: readonly Operation[]): boolean {
    if (version <= this.version) return true;
    if (base !== this.version || this.confirmed === null) return false;
    this.#set(version, patched(this.confirmed, patch) as S, patch, false);
    return true;
  }

  /** Prepare a command that is based on what is shown now. */
  seenBy(command: C): Pick<Edit<S, C>, "stateId" | "seen" | "saw"> {
    const before = this.shown();
    const after = before === null ? null : this.optimistic(before, command);
    const places = after === null ? [] : differences(before, after);
    const saw = new Map(places.map((place) => [place, valueAt(before, place)]));
    return { stateId: this.id, seen: this.version, saw: saw.size > 0 ? saw : null };
  }

  /**
   * Return the version that an edit's author may be said to have seen.
   *
   * It is the present one if all changes since are this client's own, or none is at a place that the edit is about.
   */
  seenVersion(edit: Edit<S, C>): number | undefined {
    if (edit.named !== undefined) return edit.named;
    if (edit.stateId === null) return undefined;
    let version = edit.seen;
    while (version < this.version && this.#own.has(version + 1)) version += 1;
    const unchanged =
      edit.saw !== null &&
      [...edit.saw].every(([place, value]) => equal(value, valueAt(this.confirmed, place)));
    return unchanged ? this.version : version;
  }

  #set(version: number, view: S, patch: readonly Operation[], own: boolean): void {
    const [base, before] = [this.version, this.confirmed as S];
    this.version = version;
    this.confirmed = sharing(before, this.read(view));
    this.#report(base, patch, before, own);
  }

  #report(base: number, patch: readonly Operation[], before: S, own: boolean): void {
    this.changed({ base, version: this.version, patch, before, after: this.confirmed as S, own });
  }
}

function whole(view: unknown): Operation[] {
  return [{ op: "replace", path: "", value: view }];
}
