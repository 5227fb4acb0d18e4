import { defineConfig } from "vite";

export default defineConfig({
  // The packages of the workspace are used as they are written; a project of your own needs no such line.
  resolve: { conditions: ["typed-handoffs-source", "module", "browser", "development|production"] },
  build: { chunkSizeWarningLimit: 900 }, // most of it is livekit-client
});
