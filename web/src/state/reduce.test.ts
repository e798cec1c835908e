import { describe, expect, test } from "vitest";
import type { Citation, ContentBlock, History, StreamEvent } from "../protocol/events.gen";
import { type Answer, EMPTY_ANSWER, isAwaitingModel } from "./answer";
import { receive, reduce } from "./reduce";
import { turnsOf } from "./turns";

const CITATION: Citation = {
  marker: "[1]",
  number: 1,
  start: 0,
  end: 20,
  verdict: "supported",
  quote: "Oxygen was found in 1774.",
  quote_start: 3,
  quote_end: 28,
  snapshot_id: "abc",
  passage: null,
  by: "text",
  missing: null,
  suggestion: null,
  differences: [],
};
const USAGE = {
  input_tokens: 10,
  output_tokens: 5,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  cost: 0.01,
};
const CONTEXT = { tokens: 1, window: 2, shortened_results: 0, shortened_texts: 0, summarised_turns: 0 };
const FILE = {
  id: "f",
  path: "/report.md",
  filename: "report.md",
  icon_type: "md",
  source: "generated",
  created_at: "2026-01-01T00:00:00Z",
  url: "workspace/u/report.md",
  message_id: "msg",
} as const;
const ARTIFACT = { query: "oxygen", sources: [] };

const start = (index: number, content_block: ContentBlock): StreamEvent => ({
  type: "content_block_start",
  index,
  content_block,
});
const stop = (index: number): StreamEvent => ({ type: "content_block_stop", index });
const text = (index: number, said: string): StreamEvent => ({
  type: "content_block_delta",
  index,
  delta: { type: "text_delta", text: said },
});

const CALL = {
  type: "tool_use",
  id: "t1",
  name: "web_search",
  tool_content_message: "Search",
  input: { query: "oxygen" },
} as const;
const RESULT = {
  type: "tool_result",
  tool_use_id: "t1",
  name: "web_search",
  status: "success",
  content: "Found.",
  artifact: ARTIFACT,
} as const;

const ENDED = "2026-01-01T00:00:09Z";
const LIVE: StreamEvent[] = [
  { type: "message_start", message: { id: "msg", role: "assistant", run_id: "run", session_id: "s", model: "a/b" } },
  start(0, { type: "thinking", thinking: "" }),
  { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Hm." } },
  stop(0),
  start(1, CALL),
  stop(1),
  { type: "tool_status", tool_use_id: "t1", status: "running" },
  { type: "tool_progress", tool_use_id: "t1", stage: "reading", done: 3, total: 5, label: "site" },
  { type: "tool_status", tool_use_id: "t1", status: "done" },
  start(2, RESULT),
  stop(2),
  start(3, { type: "text", text: "" }),
  text(3, "Oxygen was "),
  text(3, "found in 1774 [1]."),
  { type: "content_block_delta", index: 3, delta: { type: "citations_delta", citations: [CITATION] } },
  stop(3),
  start(4, { type: "attachments", files: [FILE] }),
  stop(4),
  { type: "message_delta", delta: { stop_reason: "stop" }, usage: USAGE, context: CONTEXT, timestamp: ENDED },
  { type: "message_stop" },
];

const OF_TURN = { turn_id: "run", timestamp: "2026-01-01T00:00:01Z" };
const HISTORY: History = {
  session: { id: "s", title: "Oxygen", agent_id: "researcher", created_at: "2026-01-01T00:00:00Z" },
  messages: [
    { role: "user", id: "q", content: [{ type: "text", text: "Who found oxygen?" }], attachments: [], ...OF_TURN },
    {
      role: "assistant",
      id: "msg-1",
      content: [
        { type: "thinking", thinking: "Hm." },
        { type: "tool_use", id: "t1", name: "web_search", input: { query: "oxygen" }, tool_content_message: "Search" },
      ],
      attachments: [],
      ...OF_TURN,
    },
    {
      role: "tool",
      tool_call_id: "t1",
      name: "web_search",
      content: "Found.",
      status: "success",
      artifact: ARTIFACT,
      ...OF_TURN,
    },
    {
      role: "assistant",
      id: "msg",
      content: [{ type: "text", text: "Oxygen was found in 1774 [1].", citations: [CITATION] }],
      attachments: [FILE],
      ...OF_TURN,
    },
  ],
  workspace: { sources: [], workspace_files: [FILE] },
  active_run: null,
  turns: [
    {
      run_id: "run",
      question_id: "q",
      message_id: "msg",
      state: "done",
      model: "a/b",
      stop_reason: "stop",
      usage: USAGE,
      error: null,
      questions: ["q"],
      answers: ["msg"],
      timestamp: OF_TURN.timestamp,
      ended_at: ENDED,
    },
  ],
};

const folded = (events: readonly StreamEvent[], from: Answer = EMPTY_ANSWER) => events.reduce(reduce, from);

describe("the fold", () => {
  test("shows after a reload what it showed live", () => {
    expect(turnsOf(HISTORY)[0]?.answer).toEqual(folded(LIVE));
    expect(turnsOf(HISTORY)[0]).toMatchObject({ askedAt: OF_TURN.timestamp, answer: { endedAt: ENDED } });
  });

  test("shows what was attached at the end, also of a turn that broke off behind a call", () => {
    const [question, asked, found] = HISTORY.messages;
    const broken = { ...asked, attachments: [FILE] } as typeof asked;
    const messages = [question, broken, found] as History["messages"];
    const blocks = turnsOf({ ...HISTORY, messages })[0]?.answer.blocks.map((block) => block.type);
    expect(blocks).toEqual(["thinking", "tool_use", "tool_result", "attachments"]);
  });

  test("takes an event in once, however often it comes", () => {
    const envelopes = LIVE.map((event, at) => ({ id: at + 1, event }));
    const once = envelopes.reduce(receive, EMPTY_ANSWER);
    const again = [...envelopes.slice(0, 13), ...envelopes.slice(5), ...envelopes].reduce(receive, EMPTY_ANSWER);
    expect(again).toEqual(once);
  });

  test("begins anew with a server that never sent what it has", () => {
    const known = LIVE.slice(0, 14).map((event, at) => ({ id: 5000 + at, event }));
    const restart = { id: 0, event: { type: "round_restart", from_index: 0 } as const };
    const anew = LIVE.map((event, at) => ({ id: at + 1, event }));
    expect([...known, restart, ...anew].reduce(receive, EMPTY_ANSWER)).toEqual(anew.reduce(receive, EMPTY_ANSWER));
  });

  test("shows the progress of a call in its card until it is done", () => {
    const running = folded(LIVE.slice(0, 8)).blocks[1];
    expect(running).toMatchObject({ status: "running", progress: { stage: "reading", done: 3 } });
    expect(folded(LIVE.slice(0, 9)).blocks[1]).toMatchObject({ status: "done", progress: null });
  });

  test("drops what a restarted round had said, and lets its calls run again", () => {
    const restarted = folded([{ type: "round_restart", from_index: 2 }], folded(LIVE.slice(0, 14)));
    expect(restarted.blocks).toHaveLength(2);
    expect(restarted.blocks[1]).toMatchObject({ type: "tool_use", status: "pending", result: null });
    expect(folded(LIVE.slice(9), restarted).blocks).toEqual(folded(LIVE).blocks);
  });

  test("asks the user about a call that waits, until somebody has decided", () => {
    const asked = {
      type: "approval_required",
      tool_use_id: "c1",
      name: "shout",
      input: { text: "hello" },
      reasons: [{ kind: "setting" }],
    } as const;
    const call = { type: "tool_use", id: "c1", name: "shout", tool_content_message: "Shout", input: {} } as const;
    const waiting = folded([start(0, call), { type: "tool_status", tool_use_id: "c1", status: "pending" }, asked]);
    expect(waiting.blocks[0]).toMatchObject({ status: "pending", asked });
    const decided = folded([{ type: "tool_status", tool_use_id: "c1", status: "running" }], waiting);
    expect(decided.blocks[0]).toMatchObject({ status: "running", asked: null });
    expect(folded([{ type: "message_stop" }], waiting).blocks[0]).toMatchObject({ status: "error", asked: null });
  });

  test("leaves no call and no block open behind the end", () => {
    const cut = folded([...LIVE.slice(0, 8), start(2, { type: "text", text: "Half" }), { type: "message_stop" }]);
    expect(cut.blocks[1]).toMatchObject({ status: "error", progress: null });
    expect(cut.blocks[2]).toMatchObject({ open: false });
  });

  test("says how a turn ended", () => {
    const ended = (stop_reason: "aborted" | "error" | "max_rounds") =>
      folded([
        { type: "message_delta", delta: { stop_reason }, usage: USAGE, context: CONTEXT, timestamp: "" },
        { type: "message_stop" },
      ]);
    expect(ended("aborted").phase).toBe("stopped");
    expect(ended("error").phase).toBe("failed");
    expect(ended("max_rounds").phase).toBe("done");
  });

  test("keeps what came before an error, beside the error", () => {
    const error = { type: "upstream_error", message: "The model went away.", retryable: true };
    const failed = folded([...LIVE.slice(0, 14), { type: "error", error }, { type: "message_stop" }]);
    expect(failed).toMatchObject({ phase: "failed", error });
    expect(failed.blocks[3]).toMatchObject({ text: "Oxygen was found in 1774 [1]." });
  });

  test("takes an error without an id for one of the line and not of the run", () => {
    const error = { type: "storage_failed", message: "Later.", retryable: true };
    expect(receive(EMPTY_ANSWER, { id: null, event: { type: "error", error } })).toBe(EMPTY_ANSWER);
  });

  test("lives on with blocks and events of a newer server", () => {
    const odd = [{ type: "content_block_start", index: 3, content_block: { type: "hologram" } }, { type: "sparkle" }];
    const answer = folded(odd as unknown as StreamEvent[]);
    expect(answer.blocks.map((block) => block.type)).toEqual(["unknown", "unknown", "unknown", "unknown"]);
  });
});

test("an answer for which nothing was looked up says so, live and from history", () => {
  const delta = { stop_reason: "stop" as const, unsourced: true };
  const end: StreamEvent = { type: "message_delta", delta, usage: USAGE, context: CONTEXT, timestamp: ENDED };
  expect(reduce(EMPTY_ANSWER, end).unsourced).toBe(true);
  const [turn] = HISTORY.turns ?? [];
  const past = { ...HISTORY, turns: turn ? [{ ...turn, unsourced: true }] : [] };
  expect(turnsOf(past)[0]?.answer.unsourced).toBe(true);
  expect(turnsOf(HISTORY)[0]?.answer.unsourced).toBe(false);
});

test("the verdicts of a second look replace those of the first", () => {
  const second = { ...CITATION, verdict: "partial" as const, by: "model" as const };
  const judged = (citations: readonly Citation[]): StreamEvent => ({
    type: "content_block_delta",
    index: 0,
    delta: { type: "citations_delta", citations },
  });
  const events = [start(0, { type: "text", text: "" }), text(0, "So [1]."), judged([CITATION]), judged([second])];
  expect(events.reduce(reduce, EMPTY_ANSWER).blocks).toEqual([
    { type: "text", text: "So [1].", citations: [second], open: true },
  ]);
});

test("the model is awaited from the begin of each round to the first event of its response", () => {
  const awaited = LIVE.map((_, at) => isAwaitingModel(LIVE.slice(0, at + 1).reduce(reduce, EMPTY_ANSWER)));
  const rounds = LIVE.flatMap((event, at) => (awaited[at] ? [event] : []));
  expect(rounds).toEqual([LIVE[0], start(2, RESULT), stop(2)]);
  expect(isAwaitingModel(EMPTY_ANSWER)).toBe(false);
  const [begun, , , , ...calls] = LIVE.slice(0, 11) as [StreamEvent, ...StreamEvent[]];
  const parallel = [begun, ...calls, start(3, { ...CALL, id: "t2" })].reduce(reduce, EMPTY_ANSWER);
  expect(isAwaitingModel(parallel)).toBe(false);
  const writing: StreamEvent = {
    ...(LIVE[7] as StreamEvent & { type: "tool_progress" }),
    tool_use_id: "t3",
    stage: "writing",
  };
  expect(isAwaitingModel(LIVE.slice(0, 11).concat(writing).reduce(reduce, EMPTY_ANSWER))).toBe(false);
});
