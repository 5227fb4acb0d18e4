import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const page = (name: string) => fileURLToPath(new URL(name, import.meta.url));

export default defineConfig({
  plugins: [react()],
  // The packages of the workspace are used as they are written.
  resolve: { conditions: ["typed-handoffs-source", "module", "browser", "development|production"] },
  build: {
    emptyOutDir: true,
    target: "es2022",
    rolldownOptions: {
      input: [page("index.html"), page("staff.html")],
      // A slow machine is no fault of the build.
      checks: { bundlerTimings: false },
    },
    // The chunk that a call loads is mostly livekit-client.
    chunkSizeWarningLimit: 700,
  },
});
