import { defineConfig } from "vite";
import page from "../vite.config";

export default defineConfig({
  plugins: page.plugins,
  resolve: page.resolve,
  build: { emptyOutDir: true, target: "es2022" },
});
