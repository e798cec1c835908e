import { Copy, Ellipsis, FileText, LibraryBig, RotateCcw } from "lucide-react";
import { type RefObject, useRef } from "react";
import { number, price } from "../../lib/format";
import { useLocale, useWords } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import type { TurnUsage } from "../../protocol/events.gen";
import { mainBlocks } from "../../state/answer";
import { catalog } from "../../state/catalog";
import { retry } from "../../state/commands";
import type { Turn } from "../../state/turns";
import { openDrawer } from "../../state/view";
import { Button } from "../../ui/Button";
import { Menu } from "../../ui/Menu";
import { Branches } from "./Branches";
import { attempt, useBusy } from "./busy";
import { copy } from "./clipboard";
import { htmlOf, markdownOf } from "./copying";
import { numbersFound } from "./footnotes/knownSources";
import { Moment } from "./Moment";
import { words } from "./words";

export function AnswerActions({ turn }: { turn: Turn }) {
  const t = useWords(words);
  const row = useRef<HTMLDivElement>(null);
  const sources = numbersFound(turn).size;
  const { answer } = turn;
  const hasText = mainBlocks(answer.blocks).some((block) => block.type === "text" && block.text.trim() !== "");
  return (
    <div ref={row} className="chat-actions" data-kind="answer">
      <Branches kind="answer" all={turn.answers} shown={answer.messageId} />
      {hasText && <CopyButtons turn={turn} row={row} />}
      {turn.questionId !== null && <Again turn={turn} />}
      {sources > 0 && (
        <Button look="quiet" small icon={LibraryBig} onClick={() => openDrawer({ kind: "sources" })}>
          {t.sources(sources)}
        </Button>
      )}
      <Moment at={answer.endedAt} />
      <p className="chat-facts">
        {answer.model && <span dir="ltr">{answer.model}</span>}
        {answer.usage && <Used usage={answer.usage} />}
      </p>
    </div>
  );
}

function CopyButtons({ turn, row }: { turn: Turn; row: RefObject<HTMLDivElement | null> }) {
  const t = useWords(words);
  const copyShown = () => {
    const shown = row.current?.closest(".chat-answer")?.querySelectorAll(":scope > .chat-text") ?? [];
    void copy(markdownOf(turn), htmlOf(turn, shown));
  };
  const plain = () => void copy(markdownOf(turn));
  return (
    <>
      <Button look="quiet" small icon={Copy} label={t.copyAnswer} onClick={copyShown} />
      <Menu
        look="quiet"
        small
        icon={Ellipsis}
        label={t.more}
        items={[{ key: "markdown", text: t.copyMarkdown, icon: FileText, onChoose: plain }]}
      />
    </>
  );
}

function Again({ turn }: { turn: Turn }) {
  const t = useWords(words);
  const busy = useBusy();
  const models = useStore(catalog, (known) => known.models);
  const usable = models.filter((model) => model.available).map((model) => model.id);
  const same = turn.answer.model;
  const isKnown = same !== null && usable.includes(same);
  const again = (model?: string) => () => void attempt(() => retry(turn, model));
  const others = usable.filter((id) => id !== same);
  const button = { look: "quiet", small: true, icon: RotateCcw, label: t.retry, disabled: busy } as const;
  if (others.length === 0) return <Button {...button} onClick={again(isKnown ? same : undefined)} />;
  return (
    <Menu
      {...button}
      items={[
        isKnown
          ? { key: "same", text: t.sameModel, note: same, icon: RotateCcw, onChoose: again(same) }
          : { key: "same", text: t.usualModel, icon: RotateCcw, onChoose: again() },
        ...others.map((id) => ({ key: id, text: id, onChoose: again(id) })),
      ]}
    />
  );
}

function Used({ usage }: { usage: TurnUsage }) {
  const t = useWords(words);
  const locale = useLocale();
  if (usage.input_tokens === 0 && usage.output_tokens === 0) return null;
  const input = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
  return (
    <>
      <span title={t.usageTitle}>{t.usage(number(input, locale), number(usage.output_tokens, locale))}</span>
      <span>{usage.cost === null ? t.costUnknown : price(usage.cost, locale)}</span>
    </>
  );
}
