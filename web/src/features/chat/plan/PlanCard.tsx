import { ChevronDown, Plus, Telescope } from "lucide-react";
import { type RefObject, useEffect, useId, useMemo, useRef, useState } from "react";
import { number, price } from "../../../lib/format";
import { useLocale, useWords } from "../../../lib/i18n";
import { useStore } from "../../../lib/store";
import type { PlanItem } from "../../../protocol/events.gen";
import { type Answer, isActive, type PlanPart } from "../../../state/answer";
import { edited, isOpen, isUnnamed, type PlanEdit } from "../../../state/planChanges";
import { changePlan, planEdits } from "../../../state/research";
import type { Turn } from "../../../state/turns";
import { Button } from "../../../ui/Button";
import { Icon } from "../../../ui/Icon";
import { attempt } from "../busy";
import { FinishButton } from "../FinishButton";
import { BudgetBars, durationText } from "./BudgetBars";
import { ItemEditor } from "./ItemEditor";
import { type BlocksByItem, blocksByItem, foundBy } from "./itemBlocks";
import { type ItemActions, PlanItemRow } from "./PlanItemRow";
import "./plan.css";
import { words } from "./words";

export { BudgetLine } from "./BudgetBars";

const NONE: BlocksByItem = new Map();
const EMPTY: readonly never[] = [];

/** The plan of a research run: its questions with what goes on in each, and what can be changed while it goes on. Of one that
 * is done there is a line, which opens. */
export function PlanCard({ turn, plan }: { turn: Turn; plan: PlanPart }) {
  const t = useWords(words);
  const id = useId();
  const { answer } = turn;
  const active = isActive(answer);
  const [isUnfolded, setUnfolded] = useState(false);
  const open = isUnfolded || answer.phase !== "done";
  const placed = useItemBlocks(answer);
  return (
    <section
      className="chat-plan"
      aria-labelledby={id}
      data-active={active || undefined}
      onClickCapture={({ target }) => {
        // Who reads what an item did goes on reading when the run ends.
        if (active && target instanceof Element && target.closest(".chat-plan-head[aria-expanded]")) setUnfolded(true);
      }}
    >
      {answer.phase === "done" ? (
        <h3 className="chat-plan-title">
          <button
            type="button"
            className="chat-plan-fold"
            aria-expanded={open}
            onClick={() => setUnfolded(!isUnfolded)}
          >
            <Icon of={Telescope} />
            <span id={id}>{t.research}</span>
            <Outcome answer={answer} plan={plan} placed={placed} />
            <Icon of={ChevronDown} />
          </button>
        </h3>
      ) : (
        <Head id={id} plan={plan} runId={active ? answer.runId : null} />
      )}
      {open && answer.budget && answer.spent && (
        <BudgetBars budget={answer.budget} spent={answer.spent} isActive={active} />
      )}
      {open && <Items turn={turn} plan={plan} placed={placed} runId={active ? answer.runId : null} />}
      {open && <Steering said={plan.steering} />}
    </section>
  );
}

/** The blocks of each item, with the same lists for items to which nothing came. */
function useItemBlocks({ blocks }: Answer): BlocksByItem {
  const before = useRef(NONE);
  const placed = useMemo(() => blocksByItem(blocks, before.current), [blocks]);
  useEffect(() => {
    before.current = placed;
  }, [placed]);
  return placed;
}

function Head({ id, plan, runId }: { id: string; plan: PlanPart; runId: string | null }) {
  const t = useWords(words);
  const locale = useLocale();
  const wanted = plan.items.filter(({ status }) => status !== "dropped");
  const done = wanted.filter((item) => !isOpen(item)).length;
  const counts = [number(done, locale), number(wanted.length, locale)] as const;
  return (
    <div className="chat-plan-top">
      <h3 id={id} className="chat-plan-title">
        <Icon of={Telescope} />
        {t.plan}
      </h3>
      <span className="chat-plan-count">{t.done(...counts)}</span>
      {runId !== null && (
        <p role="status" className="ui-hidden">
          {t.saidDone(...counts)}
        </p>
      )}
      {runId !== null && done < wanted.length && <FinishButton runId={runId} text={t.finish} title={t.finishTitle} />}
    </div>
  );
}

/** "6 questions · 34 statements · 21 sources · 4 min 12 s · $0.21" */
function Outcome({ answer, plan, placed }: { answer: Answer; plan: PlanPart; placed: BlocksByItem }) {
  const t = useWords(words);
  const locale = useLocale();
  const found = useMemo(() => [...placed.values()].map(foundBy), [placed]);
  const statements = found.reduce((sum, one) => sum + one.statements, 0);
  const sources = new Set(found.flatMap((one) => one.sources.map(({ number: of, url }) => of ?? url))).size;
  const { spent } = answer;
  const parts = [
    t.questions(plan.items.filter(({ status }) => status !== "dropped").length),
    ...(statements > 0 ? [t.statements(statements)] : []),
    ...(sources > 0 ? [t.sources(sources)] : []),
    ...(spent ? [durationText(spent.seconds, t)] : []),
    ...(spent?.usd ? [price(spent.usd, locale)] : []),
  ];
  return <span className="chat-plan-count">{parts.join(" · ")}</span>;
}

interface ItemsProps {
  turn: Turn;
  plan: PlanPart;
  placed: BlocksByItem;
  /** Null: the run has ended. */
  runId: string | null;
}

function Items({ turn, plan, placed, runId }: ItemsProps) {
  const t = useWords(words);
  const list = useRef<HTMLOListElement>(null);
  const unconfirmed = useStore(planEdits);
  const items = useMemo(() => {
    const mine = unconfirmed.filter((one) => one.runId === runId);
    return mine.reduce((known, { edit }) => edited(known, edit), plan.items);
  }, [plan.items, unconfirmed, runId]);
  const { said, actions } = useActions(runId, items, list);
  const pending = items.filter(({ status }) => status === "pending");
  const canAdd = runId !== null && plan.items.some(isOpen);
  return (
    <>
      <ol ref={list} className="chat-plan-items" aria-label={t.plan}>
        {items.map((item) => (
          <PlanItemRow
            key={item.id}
            item={item}
            placed={placed.get(item.id) ?? EMPTY}
            turnKey={turn.key}
            actions={isUnnamed(item) || !canAdd ? null : actions}
            isFirst={item === pending[0]}
            isLast={item === pending.at(-1)}
          />
        ))}
      </ol>
      {canAdd && <Add runId={runId} />}
      {runId !== null && (
        <p role="status" className="ui-hidden">
          {said}
        </p>
      )}
    </>
  );
}

/** Changes the plan, and tells what was changed to those who do not see it. */
function useActions(runId: string | null, items: readonly PlanItem[], list: RefObject<HTMLOListElement | null>) {
  const t = useWords(words);
  const locale = useLocale();
  const [said, setSaid] = useState("");
  const known = useRef({ items, t, locale });
  useEffect(() => {
    known.current = { items, t, locale };
  });
  const actions = useMemo((): ItemActions | null => {
    if (runId === null) return null;
    const change = (edit: PlanEdit) => void attempt(() => changePlan(runId, edit));
    return {
      move: (item, by) => {
        change({ type: "move", id: item.id, by });
        const now = edited(known.current.items, { type: "move", id: item.id, by });
        const at = now.findIndex(({ id }) => id === item.id) + 1;
        setSaid(known.current.t.moved(number(at, known.current.locale), number(now.length, known.current.locale)));
      },
      reword: (item, question) => change({ type: "reword", id: item.id, question }),
      drop: (item) => {
        change({ type: "drop", id: item.id });
        setSaid(known.current.t.isDropped(item.question));
        // What was pressed is gone.
        const at = known.current.items.findIndex(({ id }) => id === item.id);
        requestAnimationFrame(() => list.current?.children[at]?.querySelector<HTMLElement>("button")?.focus());
      },
      addAgain: (item) => {
        // What the run itself has dropped, with a note, is another question when it is asked again.
        const comesBack = item.note === undefined;
        change(comesBack ? { type: "restore", id: item.id } : { type: "add", question: item.question });
        const { items: now } = known.current;
        const at = comesBack ? now.findIndex(({ id }) => id === item.id) : now.length;
        requestAnimationFrame(() => {
          const row = list.current?.children[at];
          row?.scrollIntoView({ block: "nearest" });
          row?.querySelector<HTMLElement>("button:not([aria-disabled])")?.focus();
        });
      },
    };
  }, [runId, list]);
  return { said, actions };
}

function Add({ runId }: { runId: string }) {
  const t = useWords(words);
  const [isWriting, setWriting] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const returns = useRef(false);
  useEffect(() => {
    if (!isWriting && returns.current) button.current?.focus();
    returns.current = isWriting;
  }, [isWriting]);
  if (!isWriting)
    return (
      <Button ref={button} look="quiet" small icon={Plus} className="chat-plan-add" onClick={() => setWriting(true)}>
        {t.add}
      </Button>
    );
  return (
    <ItemEditor
      label={t.newQuestion}
      action={t.addIt}
      text=""
      onCancel={() => setWriting(false)}
      onSave={(question) => {
        setWriting(false);
        void attempt(() => changePlan(runId, { type: "add", question }));
      }}
    />
  );
}

/** What the user told those who do the research. */
function Steering({ said }: { said: readonly string[] }) {
  const t = useWords(words);
  if (said.length === 0) return null;
  return (
    <ul className="chat-plan-told" aria-label={t.told}>
      {said.map((text, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: what was said stays where it is.
        <li key={at}>
          <span className="chat-plan-told-by">{t.told}</span>
          <span dir="auto">{text}</span>
        </li>
      ))}
    </ul>
  );
}
