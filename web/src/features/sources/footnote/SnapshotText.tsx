import { Fragment, useLayoutEffect, useRef, useState } from "react";
import { size } from "../../../lib/format";
import { useLocale, useWords } from "../../../lib/i18n";
import { Button } from "../../../ui/Button";
import { BlockText } from "./BlockText";
import type { Block } from "./blocks";
import { isMarkdown, isSameRange, type Passage, type Reading } from "./passages";
import { overlaps, type Range } from "./pieces";
import { blocksIn, contains, groupsIn, grown, spanAround } from "./span";
import { words } from "./words";

interface TextProps {
  reading: Reading;
  current: Passage | null;
  /** What is set apart in it. */
  values: readonly Range[];
  /** The passage that the model was given. */
  outlined: Range | null;
  /** Another value: the footnote was opened anew, and the passage is to be found again. */
  opening: unknown;
  /** The opening that the keyboard was brought to. */
  focused: { current: unknown };
}

/** The text as it was read, at the passage. */
export function SnapshotText({ reading, current, values, outlined, opening, focused }: TextProps) {
  const t = useWords(words);
  const room = useRef<HTMLElement>(null);
  const { text, media_type } = reading.snapshot;
  const [chosen, setChosen] = useState<{ of: Reading; span: Range } | null>(null);
  const wanted = chosen?.of === reading ? chosen.span : spanAround(text.length, current);
  const span = current && !contains(wanted, current) ? spanAround(text.length, current) : wanted;
  const show = (next: Range) => setChosen({ of: reading, span: next });
  useShown(room, current, reading, { opening, focused });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard.
    <section ref={room} className="sources-text" tabIndex={0} aria-label={t.text} data-wrapped={isMarkdown(media_type)}>
      {span.start > 0 && (
        <More length={text.length} label={t.earlier} show={show} next={grown(span, text.length, "earlier")} />
      )}
      <Blocks reading={reading} span={span} current={current} values={values} outlined={outlined} />
      {span.end < text.length && (
        <More length={text.length} label={t.later} show={show} next={grown(span, text.length, "later")} />
      )}
    </section>
  );
}

/** The same one each time, so that blocks are not drawn again. */
const NO_VALUES: readonly Range[] = [];

function Blocks({
  reading,
  span,
  current,
  values,
  outlined,
}: Omit<TextProps, "opening" | "focused"> & { span: Range }) {
  const t = useWords(words);
  let page = 0;
  const show = (block: Block) => {
    const before = page;
    while (page < reading.pages.length && (reading.pages[page] ?? 0) <= block.start) page += 1;
    return (
      <Fragment key={block.start}>
        {page > before && <p className="sources-page">{t.page(page)}</p>}
        <BlockText
          reading={reading}
          block={block}
          current={current && overlaps(block, current) ? current : null}
          values={current && overlaps(block, current) ? values : NO_VALUES}
          outlined={outlined && overlaps(block, outlined) && !contains(outlined, block) ? outlined : null}
        />
      </Fragment>
    );
  };
  return groupsIn(blocksIn(reading.blocks, span), outlined).map(({ isOutlined, blocks }) => {
    const shown = blocks.map(show);
    if (!isOutlined) return shown;
    return (
      <section
        key="outlined"
        className="sources-outlined"
        tabIndex={-1}
        aria-label={t.evidence}
        data-current={(current !== null && isSameRange(current, outlined)) || undefined}
      >
        {shown}
      </section>
    );
  });
}

interface MoreProps {
  length: number;
  label: string;
  next: Range;
  show: (span: Range) => void;
}

function More({ length, label, next, show }: MoreProps) {
  const t = useWords(words);
  const locale = useLocale();
  return (
    <div className="sources-more">
      <Button small onClick={() => show(next)}>
        {label}
      </Button>
      <Button small look="quiet" onClick={() => show({ start: 0, end: length })}>
        {t.all(size(length, locale))}
      </Button>
    </div>
  );
}

/** Brings the passage into view. When the footnote was opened, the keyboard goes there too; afterwards it stays where it is,
 * on the buttons that lead from passage to passage. */
function useShown(
  room: { current: HTMLElement | null },
  current: Passage | null,
  reading: Reading,
  { opening, focused }: Pick<TextProps, "opening" | "focused">,
): void {
  const id = reading.snapshot.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the passage and the text decide what is marked.
  useLayoutEffect(() => {
    const isNew = focused.current !== opening;
    focused.current = opening;
    if (!room.current) return;
    // The sign of a heading is marked too, and not drawn.
    const mark = [...room.current.querySelectorAll("mark")].find((one) => one.getClientRects().length > 0);
    const shown = mark?.closest<HTMLElement>(".sources-outlined[data-current]") ?? mark;
    if (shown) reveal(room.current, shown, isNew);
    else room.current.scrollTop = 0;
    if (isNew) (shown ?? room.current).focus({ preventScroll: true });
  }, [current?.start, current?.end, id, opening]);
}

/** Only this room is scrolled: `scrollIntoView` would also push the page around it. */
function reveal(room: HTMLElement, mark: HTMLElement, atOnce: boolean): void {
  const [outer, inner] = [room.getBoundingClientRect(), mark.getBoundingClientRect()];
  const above = Math.max(outer.height / 8, (outer.height - inner.height) / 2);
  const still = atOnce || matchMedia("(prefers-reduced-motion: reduce)").matches;
  room.scrollTo({ top: room.scrollTop + inner.top - outer.top - above, behavior: still ? "instant" : "smooth" });
}
