/**
 * The course of the talk: lines, changes of the ticket and handoffs, in the order in which they came.
 *
 * The agent keeps what was said. What changed on the ticket meanwhile is the page's own note, kept in the tab.
 */

import type { Order } from "@bella-vista/client";
import type { Line, Snapshot } from "@typed-handoffs/client";
import { type Happened, happened } from "./changes";

export type Scene =
  | { kind: "line"; id: string; line: Line }
  | { kind: "change"; id: string; told: readonly Happened[] }
  | { kind: "handoff"; id: string; from: string; to: string };

export interface Course {
  scenes: readonly Scene[];
  /** The last handoff, until it is no news any more. */
  handoff: { from: string; to: string } | null;
  /** The last change, for the status line of screen readers. */
  told: readonly Happened[];
}

/** Changes that stand together below a line. */
interface Note {
  id: string;
  told: readonly Happened[];
  /** The line's id; null above all lines, undefined as long as the line is not there. */
  below: string | null | undefined;
  /** Its words and those of the line before it: after a reload its id is another. */
  words: readonly [string, string];
}

const KEPT = "bella-vista.script";
const MOST_KEPT = 200;
const HANDOFF_IS_NEWS_MS = 4000;

interface Source {
  getSnapshot(): Snapshot<Order>;
  subscribe(listener: () => void): () => void;
}

/** Follows a session and writes down its course. */
export class Evening {
  #course: Course = { scenes: [], handoff: null, told: [] };
  #listeners = new Set<() => void>();
  #source: Source;
  #stop: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #orderId: string | null = null;
  /** The agent that the agents' attributes name, and the one that spoke or took over last. */
  #active: string | null = null;
  #agent: string | null = null;
  #lines: readonly Line[] = [];
  #notes: readonly Note[] = [];
  #seen: Order | null = null;
  /** The order before the changes of the last note, as long as nothing follows it. */
  #before: Order | null = null;
  #count = 0;

  constructor(source: Source) {
    this.#source = source;
    this.#stop = source.subscribe(() => this.#follow());
    this.#follow();
  }

  getCourse = (): Course => this.#course;

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  close(): void {
    this.#stop();
    clearTimeout(this.#timer);
  }

  #follow(): void {
    const now = this.#source.getSnapshot();
    const [lines, notes, active] = [this.#lines, this.#notes, this.#active];
    let { told } = this.#course;

    const orderId = now.confirmed?.order_id ?? null;
    const begins = orderId !== null && orderId !== this.#orderId;
    if (begins) {
      // The first order brings back the notes that a reload lost.
      if (this.#orderId === null) this.#notes = remembered(orderId);
      this.#orderId = orderId;
      this.#seen = null;
    }
    if (now.lines !== lines || this.#notes !== notes) {
      if (now.lines.at(-1)?.id !== lines.at(-1)?.id) this.#before = null;
      this.#notes = placed(this.#notes, lines, now.lines);
      this.#lines = now.lines;
    }
    const after = now.confirmed;
    if (after && after !== this.#seen) {
      if (this.#seen && after.version > this.#seen.version) {
        const news = happened(this.#seen, after);
        if (news.length > 0) {
          told = news;
          this.#note(this.#seen, after);
        }
      }
      this.#seen = after;
    }
    this.#active = now.activeAgent;

    const same = this.#lines === lines && this.#notes === notes && this.#active === active;
    if (same && told === this.#course.told && !begins) return;
    let { handoff } = this.#course;
    // Before the first order only an agent of the guest's last call can have been there: that is no handoff.
    const from = begins ? null : this.#agent;
    const scenes = this.#scenes();
    const to = this.#agent;
    if (this.#orderId !== null && from !== null && to !== null && from !== to) {
      handoff = { from, to };
      clearTimeout(this.#timer);
      this.#timer = setTimeout(
        () => this.#show({ ...this.#course, handoff: null }),
        HANDOFF_IS_NEWS_MS,
      );
    }
    this.#show({ scenes, handoff, told });
    if (this.#orderId !== null && this.#notes !== notes) keep(this.#orderId, this.#notes);
  }

  /** Write down what changed below the last line; changes in a row read as one. */
  #note(seen: Order, after: Order): void {
    const open = this.#before !== null;
    const before = this.#before ?? seen;
    const rest = open ? this.#notes.slice(0, -1) : this.#notes;
    const told = happened(before, after);
    const line = this.#lines.at(-1);
    const words = [this.#lines.at(-2)?.text ?? "", line?.text ?? ""] as const;
    this.#count += 1;
    const id = `${Date.now()}.${this.#count}`;
    this.#notes = told.length > 0 ? [...rest, { id, told, below: line?.id ?? null, words }] : rest;
    this.#before = told.length > 0 ? before : null;
  }

  #scenes(): Scene[] {
    const scenes: Scene[] = [];
    let agent: string | null = null;
    const handOver = (to: string | null, id: string) => {
      if (to === null || to === agent) return;
      if (agent !== null) scenes.push({ kind: "handoff", id: `to ${id}`, from: agent, to });
      agent = to;
    };
    const notesBelow = (line: string | null) => {
      for (const { id, told, below } of this.#notes)
        if (below === line) scenes.push({ kind: "change", id, told });
    };
    notesBelow(null);
    for (const line of this.#lines) {
      handOver(line.agent, line.id);
      scenes.push({ kind: "line", id: line.id, line });
      notesBelow(line.id);
    }
    // The news that an agent took over may come before its first words.
    handOver(this.#active, "next");
    this.#agent = agent;
    return scenes;
  }

  #show(course: Course): void {
    this.#course = course;
    for (const listener of [...this.#listeners]) listener();
  }
}

/** Put notes below the lines that are there now. */
function placed(
  notes: readonly Note[],
  was: readonly Line[],
  lines: readonly Line[],
): readonly Note[] {
  if (notes.length === 0) return notes;
  const there = new Set(lines.map((line) => line.id));
  const before = (id: string) => {
    // Words that were not accepted are taken back.
    const gone = was.findIndex((line) => line.id === id);
    return was.slice(0, gone).findLast((line) => there.has(line.id))?.id ?? null;
  };
  let end = lines.length - 1;
  const again = notes.toReversed().map((note): Note => {
    const { below, words } = note;
    if (below === null || (below && there.has(below))) return note;
    if (below) return { ...note, below: before(below) };
    if (words[1] === "") return { ...note, below: null };
    const place = lines.findLastIndex(
      ({ text }, at) =>
        at <= end &&
        alike(text, words[1]) &&
        (alike(lines[at - 1]?.text ?? "", words[0]) || text.includes(words[0])),
    );
    if (place < 0) return note;
    end = place;
    return { ...note, below: lines[place]?.id };
  });
  again.reverse();
  return again.every((note, place) => note === notes[place]) ? notes : again;
}

/** Whether two lines say the same; one may be a part of the other. */
function alike(one: string, other: string): boolean {
  if (one === "" || other === "") return one === other;
  return one.includes(other) || other.includes(one);
}

function keep(orderId: string, notes: readonly Note[]): void {
  const last = notes.slice(-MOST_KEPT).map(({ below: _, ...note }) => note);
  try {
    sessionStorage.setItem(KEPT, JSON.stringify({ orderId, notes: last }));
  } catch {
    // A full or forbidden storage: the notes are only lost by a reload.
  }
}

function remembered(orderId: string): Note[] {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
    return kept?.orderId === orderId ? kept.notes : [];
  } catch {
    return [];
  }
}
