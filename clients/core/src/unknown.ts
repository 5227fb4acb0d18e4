/** The parts of a newer agent's state that a client does not know. */

/** `KNOWN` in the types that `typed-handoffs-types` writes. */
export interface Known {
  fields: readonly string[];
  values: Readonly<Record<string, readonly string[]>>;
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
  return (state) =>
    Object.entries(state).flatMap(([field, value]) => {
      if (known.fields.length > 0 && !known.fields.includes(field)) return [`field ${field}`];
      const listed = known.values[field]?.includes(value as string) ?? true;
      return listed || typeof value !== "string" ? [] : [`${field} ${JSON.stringify(value)}`];
    });
}
