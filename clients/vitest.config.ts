import { defineConfig } from "vitest/config";

// The packages' own sources, not what was built of them: package.json, "exports".
const source = { conditions: ["typed-handoffs-source"] };

export default defineConfig({
  resolve: source,
  ssr: { resolve: source },
  test: {
    include: ["{core,react,bella-vista,web}/tests/**/*.test.{ts,tsx}"],
    reporters: ["default"],
    testTimeout: 60_000, // no test is about time; a busy machine may take long
  },
});
