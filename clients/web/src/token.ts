/** The web server's calls: a token to join with, an agent that is missing, leaving for good. */

export interface Token {
  server_url: string;
  participant_token: string;
}

export type Fault = "no_server" | "refused" | "too_many";

/** The web server did not let the guest in. */
export class Refused extends Error {
  constructor(readonly fault: Fault) {
    super(fault);
  }
}

async function post(path: string): Promise<Response> {
  try {
    return await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: "{}",
    });
  } catch {
    throw new Refused("no_server");
  }
}

/**
 * Ask for a token.
 *
 * @throws {Refused} The server cannot be reached, or said no.
 */
export async function fetchToken(): Promise<Token> {
  const response = await post("/api/token");
  if (response.status === 429) throw new Refused("too_many");
  if (response.status >= 500) throw new Refused("no_server");
  if (!response.ok) throw new Refused("refused");
  return response.json();
}

/** Ask for an agent, when none is in the room. */
export async function bringAgent(): Promise<void> {
  await post("/api/agent");
}

/** Leave for good: the next token is for another room. A call that cannot be left is no reason to stay. */
export async function leave(): Promise<void> {
  await post("/api/leave").catch(() => {});
}
