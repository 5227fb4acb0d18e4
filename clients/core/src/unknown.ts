/** The parts of a newer agent's state that a client does not know. */

/** `KNOWN` in the types that `typed-handoffs-types` writes. */
export interface Known {
  fields: readonly string[];
  values: Readonly<Record<string, readonly string[]>>;
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
