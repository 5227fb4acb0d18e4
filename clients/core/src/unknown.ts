/** The parts of a newer agent's state that a client does not know. */

import { isObject } from "./errors.js";

/** `KNOWN` in the types that `typed-handoffs-types` writes. */
export interface Known {
  fields: readonly string[];
  values: Readonly<Record<string, readonly string[]>>;
  /** The same of fields that hold an object, or a list of objects; others are not looked into. */
  nested?: Readonly<Record<string, Known>>;
}

/** Return a value from another program with the fields that it lacks; `tell` is called with the name of each. */
export function completed<T extends object>(
  value: object,
  empty: Readonly<Record<string, unknown>>,
  tell: (field: string) => void,
): T {
  const lacking = Object.entries(empty).filter(([field]) => !Object.hasOwn(value, field));
  if (lacking.length === 0) return value as T;
  for (const [field] of lacking) tell(field);
  return { ...value, ...Object.fromEntries(lacking) } as T;
}

/** Return an `App.unknownIn`: the fields of a state that are not listed, and values such as new stages. */
export function notIn(known: Known): (state: object) => string[] {
  return (state) => [...new Set(unknownIn(state, known, ""))];
}

function unknownIn(part: object, known: Known, path: string): string[] {
  return Object.entries(part).flatMap(([field, value]) => {
    const name = path + field;
    if (known.fields.length > 0 && !known.fields.includes(field)) return [`field ${name}`];
    const inside = known.nested?.[field];
    if (inside !== undefined) {
      const parts: unknown[] = Array.isArray(value) ? value : [value];
      return parts.filter(isObject).flatMap((one) => unknownIn(one, inside, `${name}.`));
    }
    const listed = known.values[field]?.includes(value) ?? true;
    return listed || typeof value !== "string" ? [] : [`${name} ${JSON.stringify(value)}`];
  });
}
