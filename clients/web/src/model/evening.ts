/**
 * The course of the talk: lines, changes of the ticket and handoffs, in the order in which they came.
 *
 * A room does not send old words again, so the tab keeps them for a reload.
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
  /** The agent that spoke or took over last, and the one that the agents' attributes name. */
  #agent: string | null = null;
  #active: string | null = null;
  #lines: readonly Line[] = [];
  #seen: Order | null = null;
  /** The order before the change that stands last, as long as nothing follows it. */
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
    let { scenes, handoff, told } = this.#course;

    const orderId = now.confirmed?.order_id ?? null;
    if (orderId !== null && orderId !== this.#orderId) {
      // The first order brings back what a reload lost; another one is another evening.
      const kept = this.#orderId === null ? remembered(orderId) : [];
      const known = new Set(kept.map((scene) => scene.id));
      const own = this.#orderId === null ? scenes.filter((scene) => !known.has(scene.id)) : [];
      scenes = [...kept, ...own];
      this.#orderId = orderId;
      this.#seen = null;
    }

    if (now.lines !== this.#lines) {
      this.#lines = now.lines;
      const known = new Set(scenes.map((scene) => scene.id));
      const there = new Set(now.lines.map((line) => line.id));
      // Words that were not accepted are taken back.
      const next = scenes.filter(
        (scene) => scene.kind !== "line" || scene.line.final || there.has(scene.id),
      );
      for (const line of now.lines) {
        const scene: Scene = { kind: "line", id: line.id, line };
        if (!known.has(line.id)) {
          // The first words of another agent may come before the news that it took over.
          if (line.agent !== null) handoff = this.#handOver(line.agent, next) ?? handoff;
          next.push(scene);
        } else next[next.findIndex((one) => one.id === line.id)] = scene;
      }
      scenes = next;
    }

    const after = now.confirmed;
    if (after && after !== this.#seen) {
      const last = scenes.at(-1);
      const before = last?.kind === "change" && this.#before ? this.#before : this.#seen;
      if (this.#seen && before && after.version > this.#seen.version) {
        const news = happened(this.#seen, after);
        if (news.length > 0) {
          told = news;
          // Changes in a row read as one.
          const rest =
            last?.kind === "change" && before === this.#before ? scenes.slice(0, -1) : scenes;
          const all = happened(before, after);
          scenes =
            all.length > 0 ? [...rest, { kind: "change", id: this.#newId(), told: all }] : rest;
          this.#before = before;
        }
      }
      this.#seen = after;
    }

    if (now.activeAgent !== this.#active) {
      this.#active = now.activeAgent;
      const next = [...scenes];
      const news = now.activeAgent === null ? null : this.#handOver(now.activeAgent, next);
      if (news) [scenes, handoff] = [next, news];
    }

    const was = this.#course;
    if (scenes === was.scenes && handoff === was.handoff && told === was.told) return;
    this.#show({ scenes, handoff, told });
    if (this.#orderId !== null) keep(this.#orderId, scenes);
  }

  /** Write down that another agent took over, if one did. */
  #handOver(to: string, scenes: Scene[]): Course["handoff"] {
    const from = this.#agent;
    this.#agent = to;
    if (from === null || from === to) return null;
    scenes.push({ kind: "handoff", id: this.#newId(), from, to });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => this.#show({ ...this.#course, handoff: null }),
      HANDOFF_IS_NEWS_MS,
    );
    return { from, to };
  }

  #show(course: Course): void {
    this.#course = course;
    for (const listener of [...this.#listeners]) listener();
  }

  #newId(): string {
    this.#count += 1;
    return `${Date.now()}.${this.#count}`;
  }
}

function keep(orderId: string, scenes: readonly Scene[]): void {
  const last = scenes
    .filter((scene) => scene.kind !== "line" || scene.line.final)
    .slice(-MOST_KEPT);
  try {
    sessionStorage.setItem(KEPT, JSON.stringify({ orderId, scenes: last }));
  } catch {
    // A full or forbidden storage: the script is only lost by a reload.
  }
}

function remembered(orderId: string): Scene[] {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
    return kept?.orderId === orderId ? kept.scenes : [];
  } catch {
    return [];
  }
}
