// First, so that everything else may differ from it.
import "./ui/tokens.css";
import "./ui/base.css";

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import { start } from "./app/start";

const root = document.getElementById("root");
if (root) {
  start();
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
