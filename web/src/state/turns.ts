/** A session as turns, from its history. Past answers are played through the same fold that live events go through. */

import type {
  FileRecord,
  History,
  PastAssistantMessage,
  PastMessage,
  PastToolMessage,
  PastTurn,
  StreamEvent,
  TurnUsage,
} from "../protocol/events.gen";
import { type Answer, EMPTY_ANSWER } from "./answer";
import { reduce } from "./reduce";

/** A question and its answer. `questions` and `answers` are the messages that may be shown in their places, oldest first. */
export interface Turn {
  /** Stays the same while the server's ids come in, so that nothing on the page is built anew. */
  key: string;
  questionId: string | null;
  text: string;
  /** When the question was asked, in the server's words; null: the server has not said so yet. */
  askedAt: string | null;
  attachments: readonly FileRecord[];
  questions: readonly string[];
  answers: readonly string[];
  answer: Answer;
}

const NOTHING_USED: TurnUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  cost: null,
};

export function turnsOf(history: History): Turn[] {
  return parted(history.messages).map(({ question, said }) => {
    const about = history.turns?.find((turn) => turn.question_id === question.id);
    return {
      key: about?.run_id ?? question.id,
      questionId: question.id,
      text: question.content.map((part) => part.text).join("\n"),
      askedAt: question.timestamp ?? null,
      attachments: question.attachments,
      questions: about?.questions ?? [question.id],
      answers: about?.answers ?? [],
      answer: about ? answerOf(about, said) : { ...EMPTY_ANSWER, phase: "stopped" },
    };
  });
}

type Question = Extract<PastMessage, { role: "user" }>;
type Said = PastAssistantMessage | PastToolMessage;

function parted(messages: readonly PastMessage[]): { question: Question; said: Said[] }[] {
  const parts: { question: Question; said: Said[] }[] = [];
  for (const message of messages) {
    if (message.role === "user") parts.push({ question: message, said: [] });
    else parts.at(-1)?.said.push(message);
  }
  return parts;
}

function answerOf(turn: PastTurn, said: readonly Said[]): Answer {
  const known = { ...EMPTY_ANSWER, runId: turn.run_id, messageId: turn.message_id };
  if (turn.state === "queued" || turn.state === "running" || turn.state === "waiting")
    return { ...known, lastEventAt: Date.parse(turn.timestamp ?? "") || null };
  return [...eventsOf(turn, said)].reduce(reduce, known);
}

/** The events that would have led here, a block in one piece. */
function* eventsOf(turn: PastTurn, said: readonly Said[]): Generator<StreamEvent> {
  const { message_id: id, run_id, model, unsourced } = turn;
  yield { type: "message_start", message: { id, role: "assistant", run_id, session_id: "", model } };
  let index = 0;
  for (const events of blocksOf(said)) {
    for (const event of events) yield { ...event, index } as StreamEvent;
    yield { type: "content_block_stop", index };
    index += 1;
  }
  if (turn.budget && turn.spent) yield { type: "budget_update", budget: turn.budget, spent: turn.spent };
  if (turn.error) yield { type: "error", error: turn.error };
  yield {
    type: "message_delta",
    delta: { stop_reason: turn.stop_reason ?? "stop", ...(unsourced ? { unsourced: true } : {}) },
    usage: turn.usage ?? NOTHING_USED,
    context: { tokens: 0, window: 0, shortened_results: 0, shortened_texts: 0, summarised_turns: 0 },
    timestamp: turn.ended_at ?? "",
  };
  yield { type: "message_stop" };
}

/** Their index is given to them where they are played. */
type Unplaced = Record<string, unknown>;

/** What was attached stands behind everything else, as it came live. */
function* blocksOf(said: readonly Said[]): Generator<Unplaced[]> {
  for (const message of said) {
    const { parent } = message;
    const blocks = message.role === "tool" ? [resultEvents(message)] : blockEvents(message);
    for (const events of blocks) yield parent === undefined ? events : events.map((event) => ({ ...event, parent }));
  }
  const files = said.flatMap((message) => (message.role === "tool" ? [] : message.attachments));
  if (files.length > 0) yield [{ type: "content_block_start", content_block: { type: "attachments", files } }];
}

function resultEvents(message: PastToolMessage): Unplaced[] {
  const { role: _, tool_call_id: tool_use_id, turn_id: _turn, timestamp: _time, parent: _item, ...result } = message;
  const content_block = { ...result, type: "tool_result", tool_use_id };
  return [{ type: "content_block_start", content_block }];
}

function* blockEvents(message: PastAssistantMessage): Generator<Unplaced[]> {
  for (const block of message.content) {
    if (block.type === "tool_use") {
      const tool_content_message = block.tool_content_message ?? block.name;
      yield [{ type: "content_block_start", content_block: { ...block, tool_content_message } }];
    } else if (block.type === "text") {
      const delta = { type: "citations_delta", citations: block.citations ?? [] };
      const content_block = { type: "text", text: block.text };
      yield [{ type: "content_block_start", content_block }, ...(block.citations ? [growth(delta)] : [])];
    } else {
      yield [{ type: "content_block_start", content_block: block }];
    }
  }
}

function growth(delta: Unplaced): Unplaced {
  return { type: "content_block_delta", delta };
}
