/** pdf.js, held to what the page's policy allows: scripts of our own server, and no compiling of strings or WebAssembly. */

import { GlobalWorkerOptions, getDocument, type PDFDocumentProxy } from "pdfjs-dist";
import workerAddress from "pdfjs-dist/build/pdf.worker.min.mjs?url";
import { api } from "../../../../protocol/client";
import type { Shown } from "../versions";

GlobalWorkerOptions.workerSrc = workerAddress;

const part = (folder: string) => new URL(`${import.meta.env.BASE_URL}pdf/${folder}/`, location.href).href;

export interface OpenedPdf {
  document: PDFDocumentProxy;
  /** Of its first page, in points; the others nearly always have the same. */
  width: number;
  height: number;
}

export async function openPdf({ sessionId, file, version }: Shown): Promise<OpenedPdf> {
  const { download_url } = await api.content(sessionId, file.path, version.number);
  const task = getDocument({
    url: download_url === null ? api.rawUrl(sessionId, file.path, version.number) : ownAddress(download_url),
    cMapUrl: part("cmaps"),
    cMapPacked: true,
    standardFontDataUrl: part("standard_fonts"),
    wasmUrl: part("wasm"),
    useWasm: false,
    isEvalSupported: false,
    enableXfa: false,
  });
  const document = await task.promise;
  const first = (await document.getPage(1)).getViewport({ scale: 1 });
  return { document, width: first.width, height: first.height };
}

export function closePdf({ document }: OpenedPdf): void {
  void document.loadingTask.destroy();
}

/** The server may name itself by another address than the one it was reached by; the page talks only to the latter. */
function ownAddress(address: string): string {
  const { pathname, search } = new URL(address, location.href);
  return pathname + search;
}
