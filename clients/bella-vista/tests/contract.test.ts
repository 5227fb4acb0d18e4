import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { typesOf } from "../../core/bin/typed-handoffs-types.mjs";

test("the types are those of the contract; `npm run types` writes them", async () => {
  const contract = JSON.parse(await readFile("../rpc/contract.json", "utf8"));
  expect(await readFile("bella-vista/src/contract.gen.ts", "utf8")).toBe(await typesOf(contract));
});
