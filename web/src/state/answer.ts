import type {
  ApprovalRequired,
  Budget,
  CallStatus,
  Citation,
  ErrorBody,
  FileRecord,
  PlanItem,
  Spent,
  ToolProgress,
  ToolResultBlock,
  TurnStopReason,
  TurnUsage,
} from "../protocol/events.gen";

/** What a block shows. Every index of a turn keeps its slot: a result has one too, and is shown in the card of its call. */
export type Block = TextPart | ThinkingPart | CallPart | ResultPart | FilesPart | PlanPart | UnknownPart;

/** `parent`: the item of the plan that a block belongs to. Such a block is shown inside its item. */
interface Part {
  parent?: string;
}

export interface TextPart extends Part {
  type: "text";
  text: string;
  citations: readonly Citation[];
  open: boolean;
}

export interface ThinkingPart extends Part {
  type: "thinking";
  text: string;
  open: boolean;
}

export interface CallPart extends Part {
  type: "tool_use";
  id: string;
  name: string;
  title: string;
  input: Readonly<Record<string, unknown>>;
  status: CallStatus;
  /** The call waits until the user decides on it: what the tool would get. */
  asked: ApprovalRequired | null;
  /** The turn ended before the call did: it has no result, and failed at nothing. */
  cutOff?: true;
  progress: ToolProgress | null;
  /** The sites that it has told to be reading, while it runs. */
  sites?: readonly string[];
  result: ToolResultBlock | null;
}

interface ResultPart extends Part {
  type: "tool_result";
  callId: string;
}

interface FilesPart extends Part {
  type: "attachments";
  files: readonly FileRecord[];
}

/** The plan of a research run, as it is now. `steering`: what the user said while the run went on. */
export interface PlanPart extends Part {
  type: "plan";
  items: readonly PlanItem[];
  steering: readonly string[];
}

/** A block of a newer server. It is passed over, and the page lives. */
interface UnknownPart extends Part {
  type: "unknown";
}

/** `waiting`: nothing came yet. `live`: its events are followed. The others are how it ended. */
export type Phase = "waiting" | "live" | "done" | "failed" | "stopped";

export interface Answer {
  runId: string | null;
  messageId: string | null;
  model: string | null;
  blocks: readonly Block[];
  /** A long call that the model is still writing, before its block begins. */
  writing: ToolProgress | null;
  phase: Phase;
  stopReason: TurnStopReason | null;
  /** It states facts, and nothing was looked up for it. */
  unsourced: boolean;
  usage: TurnUsage | null;
  /** What the run may use, and what it has used so far. */
  budget: Budget | null;
  spent: Spent | null;
  error: ErrorBody | null;
  /** When it ended, in the server's words; null: it has not, or that is not known. */
  endedAt: string | null;
  /** The id of the last event that was taken in: events at or before it are known already. */
  lastEventId: number;
  /** When it came, by the clock of this browser. Before the first one: the start of the run, if the server has told it. */
  lastEventAt: number | null;
}

export const EMPTY_ANSWER: Answer = {
  runId: null,
  messageId: null,
  model: null,
  blocks: [],
  writing: null,
  phase: "waiting",
  stopReason: null,
  unsourced: false,
  usage: null,
  budget: null,
  spent: null,
  error: null,
  endedAt: null,
  lastEventId: 0,
  lastEventAt: null,
};

export function isActive(answer: Answer): boolean {
  return answer.phase === "waiting" || answer.phase === "live";
}

/** The plan, if the answer is the outcome of a research run. */
export function planOf({ blocks }: Answer): PlanPart | null {
  const [first] = blocks;
  return first?.type === "plan" ? first : (blocks.find((block) => block.type === "plan") ?? null);
}

/** What an answer itself consists of, without what the items of its plan did. */
export function mainBlocks(blocks: readonly Block[]): readonly Block[] {
  return blocks.some(({ parent }) => parent !== undefined)
    ? blocks.filter(({ parent }) => parent === undefined)
    : blocks;
}

/** A round has begun, and nothing of the model's response is there yet. */
export function isAwaitingModel({ phase, blocks, writing }: Answer): boolean {
  if (phase !== "live" || writing) return false;
  // The plan shows what goes on.
  if (blocks.some((block) => block.type === "plan")) return false;
  if (blocks.some((block) => block.type === "tool_use" && block.result === null)) return false;
  const last = blocks.findLast((block) => block.type !== "unknown");
  return last === undefined || last.type === "tool_result";
}
