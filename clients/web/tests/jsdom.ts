/** What a browser has and jsdom has not, for tests of whole pages. */

import { vi } from "vitest";

/** Stand in for it until `vi.unstubAllGlobals`. */
export function standIn(): void {
  class Observer {
    observe() {}
    disconnect() {}
  }
  vi.stubGlobal("ResizeObserver", Observer);
  vi.stubGlobal("IntersectionObserver", Observer);
  vi.stubGlobal("fetch", fetch);
  vi.stubGlobal("matchMedia", () => ({
    ...{ matches: false, addEventListener() {}, removeEventListener() {} },
  }));
  Element.prototype.scrollIntoView = () => {};
}
