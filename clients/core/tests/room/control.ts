/** Does what a test tells a page, and tells what it sees: tests/clients/browser.py. */

import { AppError } from "@typed-handoffs/client";

/** Connect to the test. It may ask for these methods by their names. */
export function controlled(
  // biome-ignore lint/suspicious/noExplicitAny: arguments come from the test as JSON
  methods: Record<string, (...given: any[]) => unknown>,
  opened: (tell: (what: object) => void) => void,
): void {
  // A page of another server has the address in its fragment.
  const socket = new WebSocket(location.hash.slice(1) || `ws://${location.host}/control`);
  const tell = (what: object) => socket.send(JSON.stringify(what));
  socket.onmessage = async ({ data }) => {
    const { id, method, given } = JSON.parse(data);
    try {
      tell({ id, value: (await methods[method]?.(...given)) ?? null });
    } catch (error) {
      const { code, type, reason, facts, version } = AppError.from(error);
      tell({ id, error: { code, type, reason, facts, version, detail: String(error) } });
    }
  };
  socket.onopen = () => opened(tell);
}
