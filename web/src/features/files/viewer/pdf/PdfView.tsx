import { ChevronDown, ChevronUp, MoveHorizontal, ZoomIn, ZoomOut } from "lucide-react";
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { number as written } from "../../../../lib/format";
import { useLocale, useWords } from "../../../../lib/i18n";
import { Button } from "../../../../ui/Button";
import { DocumentView } from "../DocumentView";
import { useLoaded } from "../loading";
import { Loading, NoView } from "../States";
import type { Shown } from "../versions";
import { words } from "../words";
import { PdfPage } from "./PdfPage";
import "./pdf.css";
import { closePdf, type OpenedPdf, openPdf } from "./reading";

const STEP = 1.25;
const SMALLEST = 0.25;
const LARGEST = 5;
const MOST_TEXT_PAGES = 200;

export function PdfView({ shown }: { shown: Shown }) {
  const t = useWords(words);
  const { sessionId, file, version } = shown;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same version of the same file is the same document.
  const load = useCallback(() => openPdf(shown), [sessionId, file.path, version.number]);
  const { value: pdf, error } = useLoaded(load, closePdf);
  if (error instanceof Error && error.name === "PasswordException") return <NoView shown={shown} why={t.pdfLocked} />;
  if (error !== undefined) return <DocumentView shown={shown} note={t.pdfFailed} />;
  return pdf ? <Pages pdf={pdf} /> : <Loading />;
}

function Pages({ pdf }: { pdf: OpenedPdf }) {
  const t = useWords(words);
  const box = useRef<HTMLDivElement>(null);
  const fitting = useFitting(box, pdf.width);
  const [zoom, setZoom] = useState<number | null>(null);
  const [texts, setTexts] = useState(1);
  const scale = zoom ?? fitting;
  const count = pdf.document.numPages;
  const at = usePageAt(box, count);
  useSamePlace(box, scale);
  const onText = useCallback((number: number) => {
    // One after the other: laying out text stops everything else for a moment.
    setTimeout(() => setTexts((known) => Math.max(known, Math.min(number + 1, MOST_TEXT_PAGES))), 30);
  }, []);
  return (
    <>
      <div className="files-pdf-bar">
        <PageChoice at={at} count={count} onGo={(number) => navigate(box.current, number)} />
        <span className="files-space" />
        <Button
          look="quiet"
          icon={ZoomOut}
          label={t.zoomOut}
          disabled={scale <= SMALLEST}
          onClick={() => setZoom(Math.max(SMALLEST, scale / STEP))}
        />
        <span className="files-zoom">{Math.round(scale * 100)}%</span>
        <Button
          look="quiet"
          icon={ZoomIn}
          label={t.zoomIn}
          disabled={scale >= LARGEST}
          onClick={() => setZoom(Math.min(LARGEST, scale * STEP))}
        />
        <Button
          look="quiet"
          icon={MoveHorizontal}
          label={t.fitWidth}
          aria-pressed={zoom === null}
          onClick={() => setZoom(null)}
        />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
      <section ref={box} className="files-pdf-pages" tabIndex={0} aria-label={t.pages}>
        {fitting > 0 &&
          Array.from({ length: count }, (_, index) => (
            <PdfPage
              // biome-ignore lint/suspicious/noArrayIndexKey: pages are their numbers.
              key={index}
              pdf={pdf}
              number={index + 1}
              scale={scale}
              withText={index < texts}
              onText={onText}
            />
          ))}
      </section>
    </>
  );
}

function PageChoice({ at, count, onGo }: { at: number; count: number; onGo: (number: number) => void }) {
  const t = useWords(words);
  const locale = useLocale();
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <>
      <Button
        className="files-pdf-step"
        look="quiet"
        icon={ChevronUp}
        label={t.previousPage}
        disabled={at <= 1}
        onClick={() => onGo(at - 1)}
      />
      <Button
        className="files-pdf-step"
        look="quiet"
        icon={ChevronDown}
        label={t.nextPage}
        disabled={at >= count}
        onClick={() => onGo(at + 1)}
      />
      <label className="files-pdf-at">
        <span>{t.page}</span>
        <input
          className="ui-field"
          type="number"
          min={1}
          max={count}
          value={typed ?? at}
          onBlur={() => setTyped(null)}
          onChange={(event) => {
            const wanted = Number(event.target.value);
            setTyped(event.target.value);
            if (wanted >= 1 && wanted <= count) onGo(wanted);
          }}
        />
        <span>{t.pageOf(written(count, locale))}</span>
      </label>
    </>
  );
}

/** How large a page is that is as wide as the box. 0 before that is known. */
function useFitting(box: RefObject<HTMLElement | null>, width: number): number {
  const [fitting, setFitting] = useState(0);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => {
      const style = getComputedStyle(element);
      const room = element.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight);
      setFitting(Math.min(LARGEST, Math.max(SMALLEST, Math.min(room, 1000) / width)));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [box, width]);
  return fitting;
}

const pagesIn = (box: HTMLElement) => [...box.querySelectorAll<HTMLElement>("[data-page]")];

function navigate(box: HTMLElement | null, number: number): void {
  const page = box && pagesIn(box)[number - 1];
  if (page) box.scrollTo({ top: page.offsetTop - box.offsetTop - 8 });
}

/** What stood in the middle stays there when the pages grow or shrink. */
function useSamePlace(box: RefObject<HTMLElement | null>, scale: number): void {
  const known = useRef({ scale: 0, top: 0 });
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => {
      known.current.top = element.scrollTop;
    };
    element.addEventListener("scroll", look, { passive: true });
    return () => element.removeEventListener("scroll", look);
  }, [box]);
  useLayoutEffect(() => {
    const { scale: before, top } = known.current;
    const element = box.current;
    if (element && before > 0 && before !== scale) {
      const half = element.clientHeight / 2;
      element.scrollTop = ((top + half) * scale) / before - half;
    }
    known.current.scale = scale;
  }, [box, scale]);
}

/** The page in the middle of what is seen. */
function usePageAt(box: RefObject<HTMLElement | null>, count: number): number {
  const [at, setAt] = useState(1);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => {
      const middle = element.getBoundingClientRect().top + element.clientHeight / 2;
      const last = pagesIn(element).findLastIndex((page) => page.getBoundingClientRect().top <= middle);
      setAt(Math.min(count, Math.max(1, last + 1)));
    };
    element.addEventListener("scroll", look, { passive: true });
    return () => element.removeEventListener("scroll", look);
  }, [box, count]);
  return at;
}
