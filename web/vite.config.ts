import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** What pdf.js asks for while it reads: encodings of Chinese, Japanese and Korean, fonts that documents may leave out, and
 * a decoder for JPEG 2000 that is plain script, because the page's policy has no WebAssembly. */
function pdfParts(): Plugin {
  const root = dirname(createRequire(import.meta.url).resolve("pdfjs-dist/package.json"));
  const wanted = (folder: string) => readdirSync(join(root, folder)).filter((name) => !name.endsWith(".wasm"));
  const parts = ["cmaps", "standard_fonts", "wasm"].flatMap((folder) =>
    wanted(folder)
      .sort()
      .map((name) => ({ fileName: `pdf/${folder}/${name}`, from: join(root, folder, name) })),
  );
  return {
    name: "pdf-parts",
    generateBundle() {
      for (const { fileName, from } of parts) this.emitFile({ type: "asset", fileName, source: readFileSync(from) });
    },
    configureServer(server) {
      server.middlewares.use("/static/pdf/", (request, response, next) => {
        const part = parts.find(({ fileName }) => `/${fileName.slice(4)}` === request.url);
        if (!part) return next();
        const type = basename(part.from).endsWith(".js") ? "text/javascript" : "application/octet-stream";
        response.setHeader("content-type", type);
        response.end(readFileSync(part.from));
      });
    },
  };
}

/** Every browser that runs the page reads WOFF2: the older forms of the same fonts stay out of the package. */
function newestFonts(): Plugin {
  return {
    name: "newest-fonts",
    enforce: "pre",
    transform(code, id) {
      if (!id.includes("katex") || !id.endsWith(".css")) return null;
      return code.replace(/,\s*url\([^)]*\.(?:woff|ttf)\)\s*format\("[a-z]+"\)/g, "");
    },
  };
}

/** The page is served below /static/ by the package itself; during `npm run dev` its API comes from a running server. */
export default defineConfig({
  base: "/static/",
  plugins: [react(), newestFonts(), pdfParts()],
  build: {
    outDir: "../src/footnote/server/static",
    emptyOutDir: true,
    // A strict content security policy has no `data:` fonts.
    assetsInlineLimit: 0,
    target: "es2022",
    chunkSizeWarningLimit: 2000,
  },
  server: { proxy: { "/v2": "http://127.0.0.1:8484", "/login": "http://127.0.0.1:8484" } },
});
