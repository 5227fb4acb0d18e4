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
  const state = field(contract, `${noun}.subscribe`, "reply", noun);
  const whole = withOneCommand(contract, field(contract, `${noun}.apply`, "request", "command"));
  const methods = Object.entries(whole.methods);
  const schema = object([
    ["State", state],
    ["Command", field(whole, `${noun}.apply`, "request", "command")],
    ["Requests", object(methods.map(([name, method]) => [name, method.request]))],
    ["Replies", object(methods.map(([name, method]) => [name, method.reply]))],
  ]);
  const types = await compile({ ...schema, $defs: whole.$defs }, "Contract", {
    bannerComment: "",
    style: { printWidth: 100 },
  });
  return `// Made from the application's contract by typed-handoffs-types; do not edit.

/** The application's name for its state. */
export const NOUN = ${JSON.stringify(noun)};

/** What a state has: its fields, the possible values of those that have a few, and those that may be empty. */
export const KNOWN = ${JSON.stringify(known(contract, state), null, 2)} as const;

export type State = Contract["State"];
${/^export (type|interface) Command\b/m.test(types) ? "" : 'export type Command = Contract["Command"];\n'}
${types}`;
}

/** The contract writes the choice of commands out wherever it stands: here it gets a name. */
function withOneCommand(contract, command) {
  if (command.$ref !== undefined || "Command" in contract.$defs) return contract;
  const { anyOf, oneOf } = command;
  const choices = JSON.stringify(anyOf ?? oneOf);
  const named = (value) => {
    if (Array.isArray(value)) return value.map(named);
    if (typeof value !== "object" || value === null) return value;
    if (choices !== undefined && JSON.stringify(value.anyOf ?? value.oneOf) === choices) {
      return { $ref: "#/$defs/Command" };
    }
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, named(one)]));
  };
  if (choices === undefined) return contract;
  const $defs = { ...named(contract.$defs), Command: { ...command, title: "Command" } };
  return { ...contract, methods: named(contract.methods), $defs };
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
  const partOf = (schema) => {
    const fields = Object.entries(schema.properties);
    const few = fields.map(([name, one]) => [name, words(one)]);
    const parts = fields.map(([name, one]) => [name, objectIn(contract, one)]);
    const nested = parts.filter(([, one]) => one !== undefined);
    return {
      fields: fields.map(([name]) => name),
      values: Object.fromEntries(few.filter(([, values]) => values.length > 0)),
      ...(nested.length > 0
        ? { nested: Object.fromEntries(nested.map(([name, one]) => [name, partOf(one)])) }
        : {}),
    };
  };
  const whole = resolved(contract, state);
  const fields = Object.entries(whole?.properties ?? {});
  return {
    ...partOf({ properties: {}, ...whole }),
    empty: Object.fromEntries(
      fields
        .map(([name, schema]) => [name, emptyOf(contract, schema)])
        .filter(([, value]) => value !== undefined),
    ),
  };
}

/** The form of the object in a field, or of those in its list; none if there are several forms. */
function objectIn(contract, schema) {
  const one = resolved(contract, schema);
  const choices = (one?.anyOf ?? [one]).filter((choice) => choice?.type !== "null");
  if (choices.length !== 1) return undefined;
  const only = resolved(contract, choices[0]);
  if (only?.type === "array") return objectIn(contract, only.items);
  return only?.properties === undefined ? undefined : only;
}

/** The value that says nothing; undefined for a type that has none, such as an amount. */
function emptyOf(contract, schema) {
  const one = resolved(contract, schema);
  if (one?.anyOf?.some((choice) => choice.type === "null")) return null;
  if (one?.type === "array") return [];
  if (one?.type === "object" && one.properties === undefined) return {};
  return one?.type === "boolean" ? false : undefined;
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
