import type {
  ApprovalRequired,
  CallStatus,
  Citation,
  ErrorBody,
  FileRecord,
  ToolProgress,
  ToolResultBlock,
  TurnStopReason,
  TurnUsage,
} from "../protocol/events.gen";

/** What a block shows. Every index of a turn keeps its slot: a result has one too, and is shown in the card of its call. */
export type Block = TextPart | ThinkingPart | CallPart | ResultPart | FilesPart | UnknownPart;

export interface TextPart {
  type: "text";
  text: string;
  citations: readonly Citation[];
  open: boolean;
}

export interface ThinkingPart {
  type: "thinking";
  text: string;
  open: boolean;
}

export interface CallPart {
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
  result: ToolResultBlock | null;
}

interface ResultPart {
  type: "tool_result";
  callId: string;
}

interface FilesPart {
  type: "attachments";
  files: readonly FileRecord[];
}

/** A block of a newer server. It is passed over, and the page lives. */
interface UnknownPart {
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
  error: null,
  endedAt: null,
  lastEventId: 0,
  lastEventAt: null,
};

export function isActive(answer: Answer): boolean {
  return answer.phase === "waiting" || answer.phase === "live";
}

/** A round has begun, and nothing of the model's response is there yet. */
export function isAwaitingModel({ phase, blocks, writing }: Answer): boolean {
  if (phase !== "live" || writing) return false;
  if (blocks.some((block) => block.type === "tool_use" && block.result === null)) return false;
  const last = blocks.findLast((block) => block.type !== "unknown");
  return last === undefined || last.type === "tool_result";
}
