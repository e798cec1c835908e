/** What parts of the page need of a conversation, worked out once for each state of it. */

import type {
  Citation,
  Disagreement,
  DisagreementValue,
  EvidencePassage,
  Receipt,
  Source,
  SourceGroup,
} from "../protocol/events.gen";
import type { CallPart } from "./answer";
import { isActive } from "./answer";
import type { Session } from "./session";
import type { Turn } from "./turns";

/** What a search found, if the call was one: its artifact has a query and sources. */
export interface SearchFound extends SourceGroup {
  receipt: Receipt | null;
  /** The passages that the model was given, in its order. */
  evidence: readonly EvidencePassage[];
  /** Where its sources say different things. */
  disagreements: readonly Disagreement[];
}

export function searchOf(call: CallPart): SearchFound | null {
  const artifact = call.result?.artifact;
  if (!artifact || typeof artifact.query !== "string" || !Array.isArray(artifact.sources)) return null;
  const sources = artifact.sources.filter(isSource);
  const evidence = Array.isArray(artifact.evidence) ? artifact.evidence.filter(isEvidence) : [];
  const disagreements = Array.isArray(artifact.disagreements) ? artifact.disagreements.filter(isDisagreement) : [];
  const receipt = isReceipt(artifact.receipt) ? artifact.receipt : null;
  return { query: artifact.query, sources, receipt, evidence, disagreements };
}

function isDisagreement(value: unknown): value is Disagreement {
  const one = value as Partial<Disagreement> | null;
  return typeof one?.about === "string" && Array.isArray(one.values) && one.values.every(isSide);
}

function isSide(value: unknown): value is DisagreementValue {
  const side = value as Partial<DisagreementValue> | null;
  return (
    typeof side?.text === "string" &&
    typeof side.number === "number" &&
    typeof side.quote_start === "number" &&
    typeof side.quote_end === "number"
  );
}

function isEvidence(value: unknown): value is EvidencePassage {
  const passage = value as Partial<EvidencePassage> | null;
  return (
    typeof passage?.id === "string" &&
    typeof passage.number === "number" &&
    typeof passage.text === "string" &&
    typeof passage.start === "number" &&
    typeof passage.end === "number"
  );
}

function isSource(value: unknown): value is Source {
  const source = value as Partial<Source> | null;
  return typeof source?.url === "string" && typeof source.title === "string" && typeof source.domain === "string";
}

function isReceipt(value: unknown): value is Receipt {
  const receipt = value as Partial<Receipt> | null;
  return Array.isArray(receipt?.providers) && Array.isArray(receipt.pages);
}

export function activeTurn({ turns }: Session): Turn | null {
  const last = turns.at(-1);
  return last && isActive(last.answer) ? last : null;
}

const groupsOfTurn = memo((turn: Turn): SearchFound[] =>
  turn.answer.blocks.flatMap((block) => (block.type === "tool_use" ? (searchOf(block) ?? []) : [])),
);

/** One for each search, in order, never merged. */
const sourceGroups = memo((turns: readonly Turn[]): SearchFound[] => turns.flatMap(groupsOfTurn));

/** Each source by its number: the reading that has the most to show. */
export const sourcesByNumber = memo((turns: readonly Turn[]): ReadonlyMap<number, Source> => {
  const found = new Map<number, Source>();
  for (const source of sourceGroups(turns).flatMap((group) => group.sources)) {
    if (source.number === null || source.number === undefined) continue;
    if (!found.has(source.number) || source.snapshot_id) found.set(source.number, source);
  }
  return found;
});

const evidenceById = memo(
  (turns: readonly Turn[]): ReadonlyMap<string, EvidencePassage> =>
    new Map(sourceGroups(turns).flatMap((group) => group.evidence.map((passage) => [passage.id, passage]))),
);

/** The passage with this id, such as `3.2`. Null: no search of the conversation gave it to a model. */
export function evidenceOf(turns: readonly Turn[], id: string | null | undefined): EvidencePassage | null {
  return (id && evidenceById(turns).get(id)) || null;
}

/** The passage that a footnote points to. */
export function pointedBy(turns: readonly Turn[], citation: Citation | null): EvidencePassage | null {
  const passage = evidenceOf(turns, citation?.passage);
  return passage?.number === citation?.number ? passage : null;
}

/** The passage of a source that consists of these words. */
export function evidenceWith(turns: readonly Turn[], number: number, text: string): EvidencePassage | null {
  const found = [...evidenceById(turns).values()];
  return found.find((passage) => passage.number === number && passage.text === text) ?? null;
}

function memo<A extends object, B>(work: (value: A) => B): (value: A) => B {
  const known = new WeakMap<A, B>();
  return (value) => {
    if (!known.has(value)) known.set(value, work(value));
    return known.get(value) as B;
  };
}
