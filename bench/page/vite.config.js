// Builds one page for each of those that are compared, all with the same React: that of web/. The references are
// where bench/page_built.py has installed them.
import { join, resolve } from "node:path";

const here = import.meta.dirname;
const web = resolve(here, "../../web");
const references = resolve(here, "../../.venv-bench/page/node_modules");

function aliases(folder, names) {
  return names.map((name) => ({ find: new RegExp(`^${name}(?=/|$)`), replacement: join(folder, name) }));
}

export default {
  root: here,
  base: "./",
  resolve: {
    alias: [
      { find: "footnote-page", replacement: join(web, "src") },
      ...aliases(join(web, "node_modules"), ["react", "react-dom"]),
      ...aliases(references, ["react-markdown", "remark-gfm", "streamdown"]),
    ],
  },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 100000,
    modulePreload: { polyfill: false },
    rollupOptions: { input: ["footnote", "streamdown", "history"].map((name) => join(here, `${name}.html`)) },
  },
  oxc: { jsx: { runtime: "automatic" } },
};
