import { afterEach, expect, test, vi } from "vitest";
import { MOST_LINES, Transcript } from "../src/transcript.js";
import type { EarlierLine, TranscriptPiece } from "../src/types.js";

afterEach(() => vi.unstubAllGlobals());

const piece = (number: number): TranscriptPiece => ({
  ...{ segmentId: `S${number}`, from: "agent", text: `line ${number}`, final: true },
  attributes: { active_agent: "greeter", utterance: `U${number}` },
});
const kept = (number: number): EarlierLine => ({
  ...{ number, turn: number, speaker: "agent", agent: "greeter" },
  ...{ text: `whole line ${number}`, interrupted: false, utterance: `U${number}` },
});

test("what a transcript remembers does not grow with the call", () => {
  const made: { size: number }[] = [];
  for (const kind of ["Map", "Set"] as const) {
    const Kind = globalThis[kind] as new (...args: unknown[]) => { size: number };
    const Watched = class extends Kind {
      constructor(...args: unknown[]) {
        super(...args);
        made.push(this);
      }
    };
    vi.stubGlobal(kind, Watched);
  }
  const transcript = new Transcript();
  for (let number = 0; number <= 5 * MOST_LINES; number++) {
    transcript.take(piece(number), "greeter");
    if (number % 50 === 0) transcript.put([kept(number)], 0);
    if (number % 70 === 0) transcript.lost();
    transcript.typed(`K${number}`, "hello");
    if (number % 2 === 0) transcript.accepted(`K${number}`, number);
    else transcript.rejected(`K${number}`);
  }

  expect(transcript.lines).toHaveLength(MOST_LINES);
  expect(made.length).toBeGreaterThan(0);
  expect(Math.max(...made.map(({ size }) => size))).toBeLessThanOrEqual(2 * MOST_LINES);
});

test("a line that is here is still known when those before it are forgotten", () => {
  const transcript = new Transcript();
  const whole = 2 * MOST_LINES - 1;
  for (let number = 0; number <= whole; number++) transcript.take(piece(number), "greeter");
  transcript.put([kept(whole)], 0);
  const last = whole + MOST_LINES - 1;
  for (let number = whole + 1; number <= last; number++) transcript.take(piece(number), "greeter");

  // Neither another line nor fewer words.
  expect(transcript.take(piece(whole), "greeter")).toBe(false);
  expect(transcript.take({ ...piece(whole), segmentId: "again" }, "greeter")).toBe(false);
  expect(transcript.lines).toHaveLength(MOST_LINES);
  expect([transcript.lines[0]?.text, transcript.lines.at(-1)?.text]).toEqual([
    `whole line ${whole}`,
    `line ${last}`,
  ]);
});
