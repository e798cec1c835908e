import type { PDFPageProxy } from "pdfjs-dist";
import { type CSSProperties, useCallback } from "react";
import { Link, safeHref } from "../../../../ui/Link";
import { useLoaded } from "../loading";

interface Area {
  id: string;
  href: string;
  style: CSSProperties;
}

/** The links of a page that lead to the web, where they are on it. */
export function PdfLinks({ page }: { page: PDFPageProxy }) {
  const load = useCallback(() => areasOf(page), [page]);
  const { value = [] } = useLoaded(load);
  return value.map(({ id, href, style }) => (
    <span key={id} className="files-pdf-link" style={style}>
      <Link href={href}>
        <span className="ui-hidden">{href}</span>
      </Link>
    </span>
  ));
}

async function areasOf(page: PDFPageProxy): Promise<Area[]> {
  const viewport = page.getViewport({ scale: 1 });
  const marks = (await page.getAnnotations({ intent: "display" })) as { id: string; url?: string; rect: number[] }[];
  return marks.flatMap(({ id, url, rect }): Area[] => {
    const href = url === undefined ? null : safeHref(url);
    if (href === null) return [];
    const [left = 0, top = 0, right = 0, bottom = 0] = viewport.convertToViewportRectangle(rect);
    const across = (value: number) => `${(100 * value) / viewport.width}%`;
    const down = (value: number) => `${(100 * value) / viewport.height}%`;
    const style = {
      insetInlineStart: across(Math.min(left, right)),
      insetBlockStart: down(Math.min(top, bottom)),
      inlineSize: across(Math.abs(right - left)),
      blockSize: down(Math.abs(bottom - top)),
    };
    return [{ id, href, style }];
  });
}
