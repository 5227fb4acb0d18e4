/** JSON documents that are never edited in place: patches, differences, sharing of equal parts. */

/** One step of a JSON Patch (RFC 6902). */
export interface Operation {
  op: "add" | "remove" | "replace";
  path: string;
  value?: unknown;
}

type Container = Record<string, unknown> | unknown[];

/**
 * Apply a patch. Parts that it does not touch stay the same objects.
 *
 * @throws {Error} The patch does not fit the document, or has another kind of step.
 */
export function patched(document: unknown, patch: readonly Operation[]): unknown {
  return patch.reduce((whole, step) => {
    const [root, ...names] = step.path.split("/").map(unescaped);
    if (root !== "") throw new Error(`a path begins with a slash: ${step.path}`);
    return withStep(whole, names, step);
  }, document);
}

function withStep(place: unknown, names: readonly string[], step: Operation): unknown {
  const [name, ...rest] = names;
  if (name === undefined) {
    if (step.op === "remove") throw new Error("the whole document cannot be removed");
    return step.value;
  }
  if (Array.isArray(place)) return withStepInList(place, name, rest, step);
  if (typeof place !== "object" || place === null) throw missing(step);
  const fields = place as Record<string, unknown>;
  if (!Object.hasOwn(fields, name) && (rest.length > 0 || step.op !== "add")) throw missing(step);
  if (rest.length > 0) return { ...fields, [name]: withStep(fields[name], rest, step) };
  if (step.op !== "remove") return { ...fields, [name]: valueIn(step) };
  const { [name]: _, ...others } = fields;
  return others;
}

function withStepInList(
  list: readonly unknown[],
  name: string,
  rest: readonly string[],
  step: Operation,
): unknown[] {
  const adds = step.op === "add" && rest.length === 0;
  const index =
    adds && name === "-" ? list.length : /^(0|[1-9]\d*)$/.test(name) ? Number(name) : -1;
  if (index < 0 || index >= list.length + (adds ? 1 : 0)) throw missing(step);
  const copy = [...list];
  if (rest.length > 0) copy[index] = withStep(list[index], rest, step);
  else if (step.op === "remove") copy.splice(index, 1);
  else copy.splice(index, step.op === "add" ? 0 : 1, valueIn(step));
  return copy;
}

function valueIn(step: Operation): unknown {
  if (step.op !== "add" && step.op !== "replace") throw new Error(`no such step: ${step.op}`);
  return step.value;
}

function missing(step: Operation): Error {
  return new Error(`the patch names a place that is not there: ${step.path}`);
}

function unescaped(name: string): string {
  return name.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Return `after` in which all parts equal to those of `before` are the same objects. */
export function sharing<T>(before: unknown, after: T): T {
  if (Object.is(before, after) || !isContainer(before) || !isContainer(after)) return after;
  if (Array.isArray(before) !== Array.isArray(after)) return after;
  const old = before as Record<string, unknown>;
  const entries = Object.entries(after).map(
    ([name, value]) => [name, sharing(old[name], value)] as const,
  );
  const same =
    Object.keys(old).length === entries.length &&
    entries.every(([name, value]) => Object.hasOwn(old, name) && Object.is(old[name], value));
  if (same) return before as T;
  return (
    Array.isArray(after) ? entries.map(([, value]) => value) : Object.fromEntries(entries)
  ) as T;
}

export function equal(one: unknown, other: unknown): boolean {
  return Object.is(sharing(one, other), one);
}

/** A place in a document; an item of a list that has an `id` is named by it. */
export type Place = readonly string[];

/** Return the places where two documents differ, as deep as possible. */
export function differences(before: unknown, after: unknown, at: Place = []): Place[] {
  if (Object.is(before, after)) return [];
  const [old, now] = [named(before), named(after)];
  const alike = Array.isArray(before) === Array.isArray(after);
  if (old === null || now === null || !alike) return equal(before, after) ? [] : [at];
  const names = new Set([...old.keys(), ...now.keys()]);
  return [...names].flatMap((name) => differences(old.get(name), now.get(name), [...at, name]));
}

/** Return what is at a place; undefined if nothing is. */
export function valueAt(document: unknown, place: Place): unknown {
  return place.reduce<unknown>((value, name) => named(value)?.get(name), document);
}

function named(value: unknown): Map<string, unknown> | null {
  if (!isContainer(value)) return null;
  if (!Array.isArray(value)) return new Map(Object.entries(value));
  const ids = value.map((item) => (isContainer(item) ? (item as { id?: unknown }).id : undefined));
  const byId = ids.every((id) => typeof id === "string") && new Set(ids).size === ids.length;
  return new Map(
    value.map((item, index) => [byId ? `#${String(ids[index])}` : String(index), item]),
  );
}

function isContainer(value: unknown): value is Container {
  return typeof value === "object" && value !== null;
}
