#!/usr/bin/env node
import { realpathSync } from "node:fs";
// Writes TypeScript types from an application's contract, as `python -m APP schema rpc` prints it.
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/**
 * Return the types of a contract: the state, the clients' commands, what methods take and answer.
 *
 * @param {Record<string, any>} contract
 * @returns {Promise<string>}
 */
export async function typesOf(contract) {
  const noun = Object.keys(contract.methods ?? {})
    .find((name) => name.endsWith(".subscribe"))
    ?.slice(0, -".subscribe".length);
  if (noun === undefined) throw new Error("this is no contract: it has no method NOUN.subscribe");
  const { compile } = await import("json-schema-to-typescript").catch(() => {
    throw new Error("this is needed first: npm install --save-dev json-schema-to-typescript");
  });
  const methods = Object.entries(contract.methods);
  const state = field(contract, `${noun}.subscribe`, "reply", noun);
  const schema = object([
    ["State", state],
    ["Command", field(contract, `${noun}.apply`, "request", "command")],
    ["Requests", object(methods.map(([name, method]) => [name, method.request]))],
    ["Replies", object(methods.map(([name, method]) => [name, method.reply]))],
  ]);
  const types = await compile({ ...schema, $defs: contract.$defs }, "Contract", {
    bannerComment: "",
    style: { printWidth: 100 },
  });
  return `// Made from the application's contract by typed-handoffs-types; do not edit.

/** The application's name for its state. */
export const NOUN = ${JSON.stringify(noun)};

/** What a state has: its fields, and the possible values of those that have a few. */
export const KNOWN = ${JSON.stringify(known(contract, state), null, 2)} as const;

export type State = Contract["State"];
export type Command = Contract["Command"];

${types}`;
}

function field(contract, method, part, name) {
  const found = resolved(contract, contract.methods[method]?.[part])?.properties?.[name];
  if (found === undefined) throw new Error(`the contract's ${method} has no ${part}.${name}`);
  return found;
}

function known(contract, state) {
  const words = (schema) => {
    const one = resolved(contract, schema);
    return one?.enum ?? one?.anyOf?.flatMap((choice) => words(choice) ?? []) ?? [];
  };
  const fields = Object.entries(resolved(contract, state)?.properties ?? {});
  const few = fields.map(([name, schema]) => [name, words(schema)]);
  return {
    fields: fields.map(([name]) => name),
    values: Object.fromEntries(few.filter(([, values]) => values.length > 0)),
  };
}

function resolved(contract, schema) {
  return schema?.$ref ? contract.$defs[schema.$ref.replace("#/$defs/", "")] : schema;
}

function object(entries) {
  return {
    type: "object",
    properties: Object.fromEntries(entries),
    required: entries.map(([name]) => name),
    additionalProperties: false,
  };
}

async function main(args) {
  const [contract, types] = args;
  if (args.length !== 2) throw new Error("usage: typed-handoffs-types CONTRACT.json TYPES.ts");
  await writeFile(types, await typesOf(JSON.parse(await readFile(contract, "utf8"))));
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  main(process.argv.slice(2)).catch((error) => {
    console.error(error.message);
    process.exitCode = 2;
  });
}
