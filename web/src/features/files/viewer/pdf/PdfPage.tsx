import { type PDFPageProxy, type RenderTask, TextLayer } from "pdfjs-dist";
import { type CSSProperties, memo, type RefObject, useEffect, useRef, useState } from "react";
import { useWords } from "../../../../lib/i18n";
import { words } from "../words";
import { PdfLinks } from "./PdfLinks";
import type { OpenedPdf } from "./reading";

/** Browsers refuse canvases beyond some size; a page that is larger is drawn less sharply. */
const MOST_PIXELS = 16_000_000;

export interface PdfPageProps {
  pdf: OpenedPdf;
  number: number;
  scale: number;
  /** Its text may be laid out now, even though the page is not near: so that the browser's own search finds it. */
  withText: boolean;
  onText: (number: number) => void;
}

/** A page, drawn while it is near to what is seen. Its text lies over the drawing, to be selected and searched. */
export const PdfPage = memo(function PdfPage({ pdf, number, scale, withText, onText }: PdfPageProps) {
  const t = useWords(words);
  const frame = useRef<HTMLElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const text = useRef<HTMLDivElement>(null);
  const near = useNear(frame);
  const page = usePage(pdf, number, near || withText);
  const viewport = page?.getViewport({ scale: 1 });
  useDrawing(canvas, near ? page : null, scale);
  useText(text, near || withText ? page : null, number, onText);
  const size = {
    "--total-scale-factor": scale,
    inlineSize: `${(viewport?.width ?? pdf.width) * scale}px`,
    blockSize: `${(viewport?.height ?? pdf.height) * scale}px`,
  } as CSSProperties;
  return (
    <article ref={frame} className="files-pdf-page" data-page={number} aria-label={`${t.page} ${number}`} style={size}>
      <canvas ref={canvas} />
      <div ref={text} className="files-pdf-text" />
      {near && page && <PdfLinks page={page} />}
    </article>
  );
});

function useNear(frame: RefObject<HTMLElement | null>): boolean {
  const [near, setNear] = useState(false);
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const root = element.closest(".files-pdf-pages");
    const watch = (entries: readonly IntersectionObserverEntry[]) => setNear(entries.at(-1)?.isIntersecting ?? false);
    const observer = new IntersectionObserver(watch, { root, rootMargin: "100% 0px" });
    observer.observe(element);
    return () => observer.disconnect();
  }, [frame]);
  return near;
}

function usePage({ document }: OpenedPdf, number: number, wanted: boolean): PDFPageProxy | null {
  const [page, setPage] = useState<PDFPageProxy | null>(null);
  useEffect(() => {
    if (!wanted) return;
    let live = true;
    document.getPage(number).then(
      (found) => live && setPage(found),
      // The page stays white; the others are not kept from being read.
      () => undefined,
    );
    return () => {
      live = false;
    };
  }, [document, number, wanted]);
  return page;
}

function useDrawing(canvas: RefObject<HTMLCanvasElement | null>, page: PDFPageProxy | null, scale: number): void {
  useEffect(() => {
    const visible = canvas.current;
    if (!page || !visible) return;
    const full = page.getViewport({ scale });
    const ratio = Math.min(devicePixelRatio || 1, Math.sqrt(MOST_PIXELS / (full.width * full.height)));
    const viewport = page.getViewport({ scale: scale * ratio });
    // Drawn aside, so that the page does not turn white while its size changes.
    const aside = document.createElement("canvas");
    aside.width = Math.floor(viewport.width);
    aside.height = Math.floor(viewport.height);
    const task: RenderTask = page.render({ canvas: aside, viewport });
    task.promise.then(
      () => {
        visible.width = aside.width;
        visible.height = aside.height;
        visible.getContext("2d")?.drawImage(aside, 0, 0);
        aside.width = 0;
      },
      // Cancelled, because it is drawn anew or went out of sight.
      () => undefined,
    );
    return () => task.cancel();
  }, [canvas, page, scale]);
  useEffect(() => {
    const visible = canvas.current;
    // Pages that are far away give their memory back.
    if (page === null && visible) visible.width = 0;
  }, [canvas, page]);
}

function useText(
  container: RefObject<HTMLDivElement | null>,
  page: PDFPageProxy | null,
  number: number,
  onText: (number: number) => void,
): void {
  useEffect(() => {
    const element = container.current;
    if (!page || !element || element.childElementCount > 0) return;
    let layer: TextLayer | null = null;
    let live = true;
    const lay = async () => {
      const content = await page.getTextContent();
      if (!live) return;
      layer = new TextLayer({
        textContentSource: content,
        container: element,
        viewport: page.getViewport({ scale: 1 }),
      });
      await layer.render();
    };
    void lay()
      .catch(() => undefined)
      .then(() => live && onText(number));
    return () => {
      live = false;
      layer?.cancel();
    };
  }, [container, page, number, onText]);
}
