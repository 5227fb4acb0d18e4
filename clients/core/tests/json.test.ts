import fc from "fast-check";
import { expect, test } from "vitest";
import { differences, equal, type Operation, patched, sharing, valueAt } from "../src/json.js";

const step = (op: Operation["op"], path: string, value?: unknown): Operation => ({
  op,
  path,
  value,
});

test.each<[unknown, Operation[], unknown]>([
  [{ a: 1 }, [step("replace", "/a", 2)], { a: 2 }],
  [{ a: 1 }, [step("add", "/b", 2), step("remove", "/a")], { b: 2 }],
  [{ a: [1, 3] }, [step("add", "/a/1", 2), step("add", "/a/-", 4)], { a: [1, 2, 3, 4] }],
  [{ a: [1, 2] }, [step("remove", "/a/0")], { a: [2] }],
  [{ a: [{ b: 1 }] }, [step("replace", "/a/0/b", 2)], { a: [{ b: 2 }] }],
  [{ "a/b": { "~": 1 } }, [step("replace", "/a~1b/~0", 2)], { "a/b": { "~": 2 } }],
  [{ a: 1 }, [step("replace", "", { b: 2 })], { b: 2 }],
  [{}, [step("add", "/__proto__", 1)], JSON.parse('{"__proto__": 1}')],
])("%j patched by %j is %j", (before, patch, after) => {
  expect(patched(before, patch)).toEqual(after);
});

test.each<[unknown, Operation]>([
  [{ a: 1 }, step("replace", "/b", 2)],
  [{ a: 1 }, step("remove", "/b")],
  [{ a: 1 }, step("add", "/b/c", 2)],
  [{ a: 1 }, step("add", "/a/c", 2)],
  [{ a: [1] }, step("replace", "/a/1", 2)],
  [{ a: [1] }, step("add", "/a/2", 2)],
  [{ a: [1] }, step("add", "/a/01", 2)],
  [{ a: [1] }, step("replace", "/a/-", 2)],
  [{ a: 1 }, step("replace", "a", 2)],
  [{ a: 1 }, step("remove", "")],
  [{ a: 1 }, step("move" as "add", "/a", 2)],
  [{}, step("replace", "/toString", 2)],
])("%j takes no %j", (before, wrong) => {
  expect(() => patched(before, [wrong])).toThrow();
});

test("a patch leaves the document as it was, and what it does not touch the same", () => {
  const before = { lines: [{ id: "L1", words: ["a"] }, { id: "L2" }], other: {} };
  const copy = structuredClone(before);
  const after = patched(before, [step("replace", "/lines/1/id", "L3")]) as typeof before;
  expect(before).toEqual(copy);
  expect(after.lines[0]).toBe(before.lines[0]);
  expect(after.other).toBe(before.other);
});

const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)));

test("sharing changes nothing but identities", () => {
  fc.assert(
    fc.property(json, json, (one, other) => {
      expect(sharing(one, other)).toEqual(other);
      expect(equal(one, structuredClone(one))).toBe(true);
      expect(equal(one, other)).toBe(JSON.stringify(sorted(one)) === JSON.stringify(sorted(other)));
    }),
  );
});

test("documents differ exactly at the places where they differ", () => {
  fc.assert(
    fc.property(json, json, (one, other) => {
      const places = differences(one, other);
      expect(places.length === 0).toBe(equal(one, other));
      for (const place of places) {
        expect(equal(valueAt(one, place), valueAt(other, place))).toBe(false);
      }
    }),
  );
});

test("a line is the same wherever it stands in its list", () => {
  const before = {
    lines: [
      { id: "L1", n: 1 },
      { id: "L2", n: 1 },
    ],
  };
  const after = { lines: [{ id: "L2", n: 2 }] };
  expect(differences(before, after)).toEqual([
    ["lines", "#L1"],
    ["lines", "#L2", "n"],
  ]);
  expect(valueAt(before, ["lines", "#L2", "n"])).toBe(1);
  expect(valueAt(after, ["lines", "#L1"])).toBeUndefined();
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, one]) => [name, sorted(one)]);
  return { fields: entries.sort(([one], [other]) => (String(one) < String(other) ? -1 : 1)) };
}
