/** The fold: an answer is what its events add up to. Live events and history go through it alike. */

import type {
  BlockDelta,
  BlockStart,
  ContentBlock,
  PlanUpdate,
  StreamEvent,
  ToolProgress,
  ToolResultBlock,
  ToolStatus,
} from "../protocol/events.gen";
import type { Envelope } from "../protocol/sse";
import type { Answer, Block, CallPart, Phase } from "./answer";

/**
 * An event that came before is passed over, so that following again from an earlier place doubles no word. A server
 * that never sent what we have (its data was brought back from a copy) says so with the id 0: we begin anew with it.
 */
export function receive(answer: Answer, { id, event }: Envelope): Answer {
  if (id === null) return event.type === "error" ? answer : reduce(answer, event);
  if (id === 0 && event.type === "round_restart") return { ...reduce(answer, event), lastEventId: 0 };
  if (id <= answer.lastEventId) return answer;
  return { ...reduce(answer, event), lastEventId: id };
}

export function reduce(answer: Answer, event: StreamEvent): Answer {
  switch (event.type) {
    case "message_start": {
      const { id, run_id, model } = event.message;
      return { ...answer, messageId: id, runId: run_id, model, phase: "live" };
    }
    case "content_block_start":
      return begun(answer, event);
    case "content_block_delta":
      return grown(answer, event);
    case "content_block_stop":
      return changed(answer, event.index, (block) => ("open" in block ? { ...block, open: false } : block));
    case "tool_status":
      return called(answer, event);
    case "approval_required":
      return changedCall(answer, event, (call) => ({ ...call, asked: event, status: "pending" }));
    case "tool_progress":
      return progressed(answer, event);
    case "message_delta": {
      const { stop_reason, unsourced = false } = event.delta;
      return { ...answer, stopReason: stop_reason, unsourced, usage: event.usage, endedAt: event.timestamp ?? null };
    }
    case "round_restart":
      return { ...answer, blocks: withoutLostResults(answer.blocks.slice(0, event.from_index)), writing: null };
    case "message_stop":
      return { ...answer, blocks: answer.blocks.map(settled), phase: ending(answer), writing: null };
    case "error":
      return { ...answer, error: event.error };
    case "plan_update":
      return replanned(answer, event);
    case "budget_update":
      return { ...answer, budget: event.budget, spent: event.spent };
    case "gap":
    case "ping":
      return answer;
    default:
      return passedOver(event, answer);
  }
}

/** An event that this page does not know is a compile error here, and nothing at all at run time. */
function passedOver(_event: never, answer: Answer): Answer {
  return answer;
}

function ending({ error, stopReason }: Answer): Phase {
  if (error || stopReason === "error") return "failed";
  return stopReason === "aborted" ? "stopped" : "done";
}

/** Nothing goes on behind the end of a turn: a call without a result was cut off. */
function settled(block: Block): Block {
  if (block.type === "tool_use" && block.result === null && block.status !== "error")
    return { ...withoutSites(block), status: "error", cutOff: true, progress: null, asked: null };
  return "open" in block && block.open ? { ...block, open: false } : block;
}

function begun(answer: Answer, { index, content_block, parent }: BlockStart): Answer {
  const blocks = [...answer.blocks];
  while (blocks.length < index) blocks.push({ type: "unknown" });
  const block = fresh(content_block);
  blocks[index] = parent === undefined ? block : { ...block, parent };
  // What an item does says nothing about the call that is being written in the main line.
  const next = { ...answer, blocks, writing: parent === undefined ? null : answer.writing };
  return content_block.type === "tool_result" ? answered(next, content_block, parent) : next;
}

function fresh(block: ContentBlock): Block {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text, citations: [], open: true };
    case "thinking":
      return { type: "thinking", text: block.thinking, open: true };
    case "tool_use":
      return {
        type: "tool_use",
        id: block.id,
        name: block.name,
        title: block.tool_content_message,
        input: block.input,
        status: "pending",
        asked: null,
        progress: null,
        result: null,
      };
    case "tool_result":
      return { type: "tool_result", callId: block.tool_use_id };
    case "attachments":
      return { type: "attachments", files: block.files };
    case "plan":
      return { type: "plan", items: block.items, steering: block.steering ?? [] };
    default:
      return { type: "unknown" };
  }
}

function grown(answer: Answer, { index, delta }: BlockDelta): Answer {
  return changed(answer, index, (block) => {
    if (block.type === "text" && delta.type === "text_delta") return { ...block, text: block.text + delta.text };
    // Each has all of the block: what a second look found replaces what comparing texts did.
    if (block.type === "text" && delta.type === "citations_delta") return { ...block, citations: delta.citations };
    if (block.type === "thinking" && delta.type === "thinking_delta")
      return { ...block, text: block.text + delta.thinking };
    return block;
  });
}

function called(answer: Answer, event: ToolStatus): Answer {
  const { status } = event;
  const goesOn = status === "running" || status === "pending";
  return changedCall(answer, event, (call) => ({
    ...(goesOn ? call : withoutSites(call)),
    status,
    // Whatever was decided, somebody has.
    asked: status === "pending" ? call.asked : null,
    progress: goesOn ? call.progress : null,
  }));
}

function progressed(answer: Answer, event: ToolProgress): Answer {
  const index = indexOfCall(answer, event);
  if (index < 0) return event.parent === undefined ? { ...answer, writing: event } : answer;
  return changed(answer, index, (block) =>
    block.type === "tool_use" ? { ...block, progress: event, ...reading(block, event) } : block,
  );
}

function reading({ sites = [] }: CallPart, { stage, label }: ToolProgress): Pick<CallPart, "sites"> {
  return stage === "reading" && label !== "" && !sites.includes(label) ? { sites: [...sites, label] } : {};
}

/** What was read is in the result. */
function withoutSites({ sites: _, ...call }: CallPart): CallPart {
  return call;
}

function answered(answer: Answer, result: ToolResultBlock, parent: string | undefined): Answer {
  const status = result.status === "error" ? "error" : "done";
  const name: CallName = parent === undefined ? result : { tool_use_id: result.tool_use_id, parent };
  return changedCall(answer, name, (call) => ({ ...withoutSites(call), status, progress: null, result }));
}

/** The plan as the server has it now. */
function replanned(answer: Answer, { index, items, steering }: PlanUpdate): Answer {
  return changed(answer, index, (block) =>
    block.type === "plan" ? { ...block, items, steering: steering ?? block.steering } : block,
  );
}

/** After a restart a call may have lost its result: it runs again. */
function withoutLostResults(blocks: readonly Block[]): readonly Block[] {
  const name = (id: string, parent = "") => `${parent} ${id}`;
  const kept = new Set(blocks.map((block) => (block.type === "tool_result" ? name(block.callId, block.parent) : null)));
  return blocks.map((block) =>
    block.type === "tool_use" && block.result && !kept.has(name(block.id, block.parent))
      ? { ...withoutSites(block), result: null, status: "pending", progress: null }
      : block,
  );
}

/** Items work in parallel, and their models may give calls the same id. */
interface CallName {
  tool_use_id: string;
  parent?: string;
}

function changedCall(answer: Answer, name: CallName, change: (call: CallPart) => CallPart): Answer {
  const index = indexOfCall(answer, name);
  return changed(answer, index, (block) => (block.type === "tool_use" ? change(block) : block));
}

function indexOfCall({ blocks }: Answer, { tool_use_id, parent }: CallName): number {
  return blocks.findLastIndex(
    (block) => block.type === "tool_use" && block.id === tool_use_id && block.parent === parent,
  );
}

function changed(answer: Answer, index: number, change: (block: Block) => Block): Answer {
  const block = answer.blocks[index];
  if (!block) return answer;
  return { ...answer, blocks: answer.blocks.with(index, change(block)) };
}
