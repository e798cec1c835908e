import {
  ArrowDown,
  ArrowUp,
  ChevronDown,
  Circle,
  CircleCheck,
  CircleSlash,
  CircleX,
  Pencil,
  RotateCcw,
  X,
} from "lucide-react";
import { memo, type ReactNode, useEffect, useId, useMemo, useRef, useState } from "react";
import { number } from "../../../lib/format";
import { useLocale, useWords } from "../../../lib/i18n";
import { api } from "../../../protocol/client";
import type { PlanItem } from "../../../protocol/events.gen";
import { Spinner } from "../../../ui/Badge";
import { Boundary } from "../../../ui/Boundary";
import { Button } from "../../../ui/Button";
import { Favicon } from "../../../ui/Favicon";
import { Icon } from "../../../ui/Icon";
import { BlockView } from "../BlockView";
import { SiteIcon } from "../Site";
import { ItemEditor } from "./ItemEditor";
import { foundBy, type ItemFound, type PlacedBlock } from "./itemBlocks";
import { words } from "./words";

const MOST_SITES = 6;

/** What can be done with an item. Null: nothing, for the run has ended or the server has no name for the item yet. */
export interface ItemActions {
  move: (item: PlanItem, by: -1 | 1) => void;
  reword: (item: PlanItem, question: string) => void;
  drop: (item: PlanItem) => void;
  addAgain: (item: PlanItem) => void;
}

interface PlanItemRowProps {
  item: PlanItem;
  placed: readonly PlacedBlock[];
  turnKey: string;
  actions: ItemActions | null;
  /** Of the pending items it is the first or the last one. */
  isFirst: boolean;
  isLast: boolean;
}

/** A question of the plan: how far it is, what is read for it, and, opened, all that was done for it. */
export const PlanItemRow = memo(function PlanItemRow(props: PlanItemRowProps) {
  const { item, placed, turnKey, actions } = props;
  const t = useWords(words);
  const id = useId();
  const [open, setOpen] = useState(false);
  const found = useMemo(() => foundBy(placed), [placed]);
  const isEmpty = placed.length === 0;
  const states = { pending: t.pending, running: t.running, done: t.ended, failed: t.failed, dropped: t.dropped };
  const said = (
    <>
      <StatusSign status={item.status} />
      <span className="chat-plan-question" dir="auto">
        {item.question}
      </span>
      <span className="ui-hidden">, {states[item.status]}</span>
    </>
  );
  return (
    <li className="chat-plan-item" data-status={item.status} data-open={open || undefined}>
      <Editable {...props} isEditable={item.status === "pending" && isEmpty}>
        {isEmpty ? (
          <span className="chat-plan-head">{said}</span>
        ) : (
          <button
            type="button"
            className="chat-plan-head"
            aria-expanded={open}
            aria-controls={open ? id : undefined}
            onClick={() => setOpen(!open)}
          >
            {said}
            <Icon of={ChevronDown} />
          </button>
        )}
      </Editable>
      {item.status === "dropped" && actions && (
        <Button
          look="quiet"
          small
          icon={RotateCcw}
          className="chat-plan-again"
          label={t.addAgain(item.question)}
          onClick={() => actions.addAgain(item)}
        />
      )}
      <Facts item={item} found={found} />
      {!open &&
        found.asking.map(({ block, at }) => (
          <div key={at} className="chat-plan-inside">
            <BlockView block={block} at={at} turnKey={turnKey} />
          </div>
        ))}
      {open && (
        <div id={id} className="chat-plan-inside">
          {placed.map(({ block, at }) => (
            <Boundary key={at}>
              <BlockView block={block} at={at} turnKey={turnKey} />
            </Boundary>
          ))}
        </div>
      )}
    </li>
  );
});

const SIGNS = { pending: Circle, done: CircleCheck, failed: CircleX, dropped: CircleSlash } as const;

function StatusSign({ status }: { status: PlanItem["status"] }) {
  return (
    <span className="chat-plan-sign" aria-hidden="true">
      {status === "running" ? <Spinner /> : <Icon of={SIGNS[status]} />}
    </span>
  );
}

/** What is read, what came of it, and why it did not go well. */
function Facts({ item, found }: { item: PlanItem; found: ItemFound }) {
  const t = useWords(words);
  const locale = useLocale();
  const { sources, sites, statements } = found;
  const read = new Set(sources.map(({ domain }) => domain));
  const reading = item.status === "running" ? sites.filter((site) => !read.has(site)) : [];
  const shown = [...new Map(sources.map((source) => [source.domain, source])).values()];
  const room = Math.max(1, MOST_SITES - Math.min(reading.length, MOST_SITES - 1));
  const more = Math.max(0, shown.length - room) + Math.max(0, reading.length - MOST_SITES);
  const counts = [
    ...(item.status === "done" && statements > 0 ? [t.statements(statements)] : []),
    ...(item.status !== "running" && sources.length > 0 ? [t.sources(sources.length)] : []),
  ];
  if (shown.length + reading.length + counts.length === 0 && !item.note) return null;
  return (
    <p className="chat-plan-facts">
      {(shown.length > 0 || reading.length > 0) && (
        <span className="chat-plan-sites" aria-hidden="true">
          {shown.slice(0, room).map((source) => (
            <span key={source.domain || source.url} title={source.domain}>
              <SiteIcon source={source} />
            </span>
          ))}
          {reading.slice(0, MOST_SITES).map((site) => (
            <span key={site} title={t.reading(site)} data-reading="">
              <Favicon domain={site} src={api.faviconUrl(site)} />
            </span>
          ))}
          {more > 0 && <span className="chat-plan-more">{t.more(number(more, locale))}</span>}
        </span>
      )}
      {counts.length > 0 && <span>{counts.join(" · ")}</span>}
      {item.note && (
        <span className="chat-plan-note" dir="auto">
          {item.note}
        </span>
      )}
    </p>
  );
}

interface EditableProps extends PlanItemRowProps {
  isEditable: boolean;
  children: ReactNode;
}

/** A pending item with what can be done about it. */
function Editable({ item, actions, isFirst, isLast, isEditable, children }: EditableProps) {
  const t = useWords(words);
  const [isWriting, setWriting] = useState(false);
  const pencil = useRef<HTMLButtonElement>(null);
  const returns = useRef(false);
  useEffect(() => {
    if (!isWriting && returns.current) pencil.current?.focus();
    returns.current = isWriting;
  }, [isWriting]);
  if (!isEditable || !actions) return children;
  const { question } = item;
  if (isWriting)
    return (
      <ItemEditor
        label={t.reword(question)}
        action={t.save}
        text={question}
        onCancel={() => setWriting(false)}
        onSave={(written) => {
          setWriting(false);
          if (written !== question) actions.reword(item, written);
        }}
      />
    );
  const move = (by: -1 | 1, isEnd: boolean) => () => {
    if (!isEnd) actions.move(item, by);
  };
  const shared = { look: "quiet", small: true } as const;
  return (
    <>
      {children}
      <span className="chat-plan-actions">
        {!(isFirst && isLast) && (
          <>
            <Button
              {...shared}
              icon={ArrowUp}
              label={t.moveUp(question)}
              aria-disabled={isFirst || undefined}
              onClick={move(-1, isFirst)}
            />
            <Button
              {...shared}
              icon={ArrowDown}
              label={t.moveDown(question)}
              aria-disabled={isLast || undefined}
              onClick={move(1, isLast)}
            />
          </>
        )}
        <Button {...shared} ref={pencil} icon={Pencil} label={t.reword(question)} onClick={() => setWriting(true)} />
        <Button {...shared} icon={X} label={t.drop(question)} onClick={() => actions.drop(item)} />
      </span>
    </>
  );
}
