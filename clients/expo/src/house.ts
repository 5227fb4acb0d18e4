/** The name of the house, of the menu that the page server has for everybody. */

import { useEffect, useState } from "react";

const LIMIT_MS = 10_000;

/**
 * The name; null until it is read.
 *
 * @param server - The page server.
 * @param attempt - Changes when it is worth reading again, where it could not be read.
 */
export function useHouseName(server: string, attempt: string): string | null {
  const [name, setName] = useState<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt is a reason to read
  useEffect(() => {
    if (name !== null) return;
    let shown = true;
    void readName(server).then((read) => {
      if (shown && read !== null) setName(read);
    });
    return () => {
      shown = false;
    };
  }, [server, attempt, name]);
  return name;
}

async function readName(server: string): Promise<string | null> {
  const limit = new AbortController();
  const late = setTimeout(() => limit.abort(), LIMIT_MS);
  try {
    const answer = await fetch(`${server}/api/menu`, { signal: limit.signal });
    if (!answer.ok) return null;
    const { house } = (await answer.json()) as { house?: { name?: unknown } };
    return typeof house?.name === "string" && house.name !== "" ? house.name : null;
  } catch {
    return null; // the app goes on without it
  } finally {
    clearTimeout(late);
  }
}
