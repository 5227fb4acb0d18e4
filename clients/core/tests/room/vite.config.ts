import { defineConfig } from "vite";

const pages = ["index.html", "staff.html"];

export default defineConfig({
  resolve: { conditions: ["typed-handoffs-source", "module", "browser"] },
  build: {
    minify: false,
    emptyOutDir: true,
    chunkSizeWarningLimit: 5_000,
    rolldownOptions: { input: pages.map((page) => `core/tests/room/${page}`) },
  },
  logLevel: "error",
});
