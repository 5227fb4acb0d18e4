import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app";
import { keepFocus } from "./model/focus";
import "./styles/tokens.css";
import "./styles/base.css";

keepFocus();
const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
