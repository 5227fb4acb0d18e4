import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { typesOf } from "../bin/typed-handoffs-types.mjs";
import { notIn } from "../src/index.js";

const CONTRACT = {
  methods: {
    "visit.subscribe": {
      request: { type: "object" },
      reply: { properties: { version: { type: "integer" }, visit: { $ref: "#/$defs/Visit" } } },
    },
    "visit.apply": {
      request: { properties: { command: { $ref: "#/$defs/CheckIn" } } },
      reply: { type: "object" },
    },
  },
  $defs: {
    Visit: {
      type: "object",
      properties: {
        visit_id: { type: "string" },
        stage: { $ref: "#/$defs/Stage" },
        how: { anyOf: [{ enum: ["walks", "runs"] }, { type: "null" }] },
        notes: { type: "array", items: { type: "string" } },
      },
      required: ["visit_id", "stage", "how"],
      additionalProperties: false,
    },
    Stage: { enum: ["open", "done"] },
    CheckIn: { type: "object", properties: { op: { const: "check_in" } }, required: ["op"] },
  },
};
const PROGRAM = "core/bin/typed-handoffs-types.mjs";

test("a contract gives the types of state and commands, and what of a state is known", async () => {
  const types = await typesOf(CONTRACT);
  expect(types).toContain('export const NOUN = "visit";');
  expect(types).toContain('"walks",\n      "runs"');
  expect(types).toMatch(/export interface Visit \{\n {2}visit_id: string;\n {2}stage: /);
  expect(types).toContain('"empty": {\n    "how": null,\n    "notes": []\n  }');
  expect(types).toMatch(/State: Visit;\n {2}Command: CheckIn;/);
});

test("a choice of commands is one type, wherever it stands", async () => {
  const commands = { anyOf: [{ $ref: "#/$defs/CheckIn" }, { $ref: "#/$defs/Leave" }] };
  const Leave = { type: "object", properties: { op: { const: "leave" } }, required: ["op"] };
  const again = { type: "object", properties: { last: { type: "array", items: commands } } };
  const methods = {
    ...CONTRACT.methods,
    "visit.apply": { request: { properties: { command: commands } }, reply: again },
  };
  const types = await typesOf({ methods, $defs: { ...CONTRACT.$defs, Leave } });
  expect(types).toContain("export type Command = CheckIn | Leave;");
  expect(types).toContain("last?: Command[];");
  expect(types.match(/CheckIn \| Leave/g)).toHaveLength(1);
});

test("the program writes them to a file, and says what is wrong", () => {
  const folder = mkdtempSync(join(tmpdir(), "types-"));
  const [contract, types] = [join(folder, "contract.json"), join(folder, "types.ts")];
  writeFileSync(contract, JSON.stringify(CONTRACT));
  execFileSync(process.execPath, [PROGRAM, contract, types]);
  expect(readFileSync(types, "utf8")).toContain("export interface Visit");
  writeFileSync(contract, "{}");
  const run = () => execFileSync(process.execPath, [PROGRAM, contract, types], { stdio: "pipe" });
  expect(run).toThrow("this is no contract: it has no method NOUN.subscribe");
});

test("what is not listed is unknown, unless nothing is", () => {
  const known = { fields: ["stage", "note"], values: { stage: ["open"] } };
  expect(notIn(known)({ stage: "open", note: "x" })).toEqual([]);
  expect(notIn(known)({ stage: "new", extra: 1 })).toEqual(['stage "new"', "field extra"]);
  expect(notIn({ fields: [], values: {} })({ anything: 1 })).toEqual([]);
});

test("what is not listed inside an object or a list of objects is unknown, once", () => {
  const part = { fields: ["name", "size"], values: { size: ["large"] } };
  const line = { fields: ["id", "parts"], values: {}, nested: { parts: part } };
  const known = {
    fields: ["lines", "way", "times"],
    values: {},
    nested: { lines: line, way: { fields: ["kind"], values: { kind: ["pickup"] } } },
  };
  const times = { baked: "now" }; // has keys of its own
  const lines = [{ id: "L1", parts: [{ name: "Cola", size: "large" }, null] }];
  expect(notIn(known)({ lines, way: { kind: "pickup" }, times })).toEqual([]);
  expect(notIn(known)({ lines: null, way: null, times })).toEqual([]);
  const newer = [1, 2].map(() => ({ id: "L1", mood: "sunny", parts: [{ size: "huge", hue: 1 }] }));
  expect(notIn(known)({ lines: newer, way: { kind: "drone", rider: "Bo" } })).toEqual([
    "field lines.mood",
    'lines.parts.size "huge"',
    "field lines.parts.hue",
    'way.kind "drone"',
    "field way.rider",
  ]);
});

test("the types say what is inside a field of one form", async () => {
  const object = (properties: object) => ({ type: "object", properties });
  const $defs = {
    ...CONTRACT.$defs,
    Line: object({ id: { type: "string" }, size: { enum: ["small", "large"] } }),
    Visit: object({
      lines: { type: "array", items: { $ref: "#/$defs/Line" } },
      last: { anyOf: [{ $ref: "#/$defs/Line" }, { type: "null" }] },
      either: { anyOf: [{ $ref: "#/$defs/Line" }, { type: "string" }] },
      times: { type: "object", additionalProperties: { type: "string" } },
    }),
  };
  const types = await typesOf({ ...CONTRACT, $defs });
  const line = { fields: ["id", "size"], values: { size: ["small", "large"] } };
  const nested = JSON.stringify({ lines: line, last: line });
  expect(types.replaceAll(/\s/g, "")).toContain(`"nested":${nested}`);
});
