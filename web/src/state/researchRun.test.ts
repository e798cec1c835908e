/** A research run, live and from its history: the plan, what its items did at the same time, and the answer. */

import { describe, expect, test } from "vitest";
import type {
  ContentBlock,
  History,
  PastAssistantMessage,
  PastMessage,
  PastToolMessage,
  PlanItem,
  Spent,
  StreamEvent,
} from "../protocol/events.gen";
import { type Answer, type Block, EMPTY_ANSWER, isAwaitingModel, mainBlocks, planOf } from "./answer";
import { receive, reduce } from "./reduce";
import { NEW_SESSION, reduceSession, type Session } from "./session";
import { turnsOf } from "./turns";

const USAGE = {
  input_tokens: 1,
  output_tokens: 1,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  cost: 0.01,
};
const CONTEXT = { tokens: 1, window: 2, shortened_results: 0, shortened_texts: 0, summarised_turns: 0 };
const BUDGET = { seconds: 900, pages: 60 };
const SPENT: Spent = { seconds: 41, usd: 0.02, pages: 2 };
const QUESTIONS = { q1: "Who named it?", q2: "Who found it?" } as const;
const planned = (q1: PlanItem["status"], q2: PlanItem["status"]): PlanItem[] => [
  { id: "q1", question: QUESTIONS.q1, status: q1 },
  { id: "q2", question: QUESTIONS.q2, status: q2 },
];

const place = (parent?: string) => (parent === undefined ? {} : { parent });
const start = (index: number, content_block: ContentBlock, parent?: string): StreamEvent[] => [
  { type: "content_block_start", index, content_block, ...place(parent) },
  { type: "content_block_stop", index, ...place(parent) },
];
const update = (q1: PlanItem["status"], q2: PlanItem["status"], steering: string[] = []): StreamEvent => ({
  type: "plan_update",
  index: 0,
  items: planned(q1, q2),
  steering,
});
// Both readers have models that number their calls from one.
const call = (query: string): ContentBlock => ({
  type: "tool_use",
  id: "call_1",
  name: "web_search",
  tool_content_message: "Search",
  input: { query },
});
const result = (query: string): ContentBlock => ({
  type: "tool_result",
  tool_use_id: "call_1",
  name: "web_search",
  status: "success",
  content: `Found for ${query}.`,
  artifact: { query, sources: [] },
});
const status = (parent: string, of: "running" | "done"): StreamEvent => ({
  type: "tool_status",
  tool_use_id: "call_1",
  status: of,
  parent,
});
const reads = (parent: string, label: string): StreamEvent => ({
  type: "tool_progress",
  tool_use_id: "call_1",
  stage: "reading",
  done: 1,
  total: 5,
  label,
  parent,
});
const writing = (done: number, label: string): StreamEvent => ({
  type: "tool_progress",
  tool_use_id: "call_report",
  stage: "writing",
  done,
  total: 2,
  label,
});

const LIVE: StreamEvent[] = [
  { type: "message_start", message: { id: "msg", role: "assistant", run_id: "run", session_id: "s", model: "a/b" } },
  ...start(0, { type: "plan", items: planned("pending", "pending") }),
  update("running", "running"),
  ...start(1, call("name"), "q1"),
  ...start(2, call("finding"), "q2"),
  status("q1", "running"),
  status("q2", "running"),
  reads("q1", "names.example"),
  reads("q2", "finds.example"),
  reads("q2", "more.example"),
  status("q2", "done"),
  ...start(3, result("finding"), "q2"),
  status("q1", "done"),
  ...start(4, result("name"), "q1"),
  { type: "budget_update", budget: BUDGET, spent: { seconds: 20, usd: 0.01, pages: 1 } },
  ...start(5, { type: "text", text: "Found by Scheele [2]." }, "q2"),
  update("running", "done", ["Only before 1800"]),
  ...start(6, { type: "text", text: "Named by Lavoisier [1]." }, "q1"),
  update("done", "done", ["Only before 1800"]),
  writing(1, "Names"),
  ...start(7, {
    type: "tool_use",
    id: "call_report",
    name: "write_file",
    tool_content_message: "Write",
    input: { file_path: "/report.md" },
  }),
  ...start(8, {
    type: "tool_result",
    tool_use_id: "call_report",
    name: "write_file",
    status: "success",
    content: "Written.",
    artifact: null,
  }),
  ...start(9, { type: "text", text: "Lavoisier named it [1]." }),
  { type: "budget_update", budget: BUDGET, spent: SPENT },
  { type: "message_delta", delta: { stop_reason: "stop" }, usage: USAGE, context: CONTEXT, timestamp: "later" },
  { type: "message_stop" },
];

const said = (content: PastAssistantMessage["content"], parent?: string): PastAssistantMessage => ({
  role: "assistant",
  id: "msg",
  content,
  attachments: [],
  ...place(parent),
});
const called = (query: string, parent: string) =>
  said(
    [{ type: "tool_use", id: "call_1", name: "web_search", input: { query }, tool_content_message: "Search" }],
    parent,
  );
const found = (query: string, parent: string): PastToolMessage => ({
  role: "tool",
  tool_call_id: "call_1",
  name: "web_search",
  content: `Found for ${query}.`,
  status: "success",
  artifact: { query, sources: [] },
  parent,
});
const QUESTION: PastMessage = {
  role: "user",
  id: "q",
  content: [{ type: "text", text: "Who discovered oxygen?" }],
  attachments: [],
};

/** The history has the messages of an item together, in whatever order the items themselves are stored. */
const HISTORY = {
  session: { id: "s", title: "Oxygen", agent_id: "researcher", created_at: "then" },
  messages: [
    QUESTION,
    said([{ type: "plan", items: planned("done", "done"), steering: ["Only before 1800"] }]),
    called("finding", "q2"),
    found("finding", "q2"),
    said([{ type: "text", text: "Found by Scheele [2]." }], "q2"),
    called("name", "q1"),
    found("name", "q1"),
    said([{ type: "text", text: "Named by Lavoisier [1]." }], "q1"),
    said([
      {
        type: "tool_use",
        id: "call_report",
        name: "write_file",
        input: { file_path: "/report.md" },
        tool_content_message: "Write",
      },
    ]),
    {
      role: "tool",
      tool_call_id: "call_report",
      name: "write_file",
      content: "Written.",
      status: "success",
      artifact: null,
    },
    said([{ type: "text", text: "Lavoisier named it [1]." }]),
  ],
  workspace: { sources: [], workspace_files: [] },
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
      ended_at: "later",
      budget: BUDGET,
      spent: SPENT,
    },
  ],
} satisfies History;

const folded = (events: readonly StreamEvent[], from: Answer = EMPTY_ANSWER) => events.reduce(reduce, from);
const until = (type: StreamEvent["type"], count = 1) => {
  const places = LIVE.flatMap((event, at) => (event.type === type ? [at] : []));
  return LIVE.slice(0, (places[count - 1] ?? 0) + 1);
};
const of = ({ blocks }: Answer, id: string): readonly Block[] => blocks.filter(({ parent }) => parent === id);

describe("the fold of a research run", () => {
  test("shows after a reload what it showed live: the main line, and each item", () => {
    const live = folded(LIVE);
    const past = turnsOf(HISTORY)[0]?.answer as Answer;
    expect(mainBlocks(past.blocks)).toEqual(mainBlocks(live.blocks));
    for (const id of ["q1", "q2"]) expect(of(past, id)).toEqual(of(live, id));
    const { blocks: _, ...ofPast } = past;
    const { blocks: _live, ...ofLive } = live;
    expect(ofPast).toEqual(ofLive);
    expect(ofLive).toMatchObject({ budget: BUDGET, spent: SPENT, phase: "done" });
    expect(planOf(live)).toEqual({ type: "plan", items: planned("done", "done"), steering: ["Only before 1800"] });
  });

  test("keeps the calls of items apart that have the same id", () => {
    const running = folded(until("tool_progress", 3));
    expect(of(running, "q1")[0]).toMatchObject({ status: "running", sites: ["names.example"] });
    expect(of(running, "q2")[0]).toMatchObject({ status: "running", sites: ["finds.example", "more.example"] });
    const one = folded(
      LIVE.slice(LIVE.findIndex((event) => event.type === "tool_status" && event.status === "done")),
      running,
    );
    expect(of(one, "q1")[0]).toMatchObject({ result: { content: "Found for name." } });
    expect(of(one, "q2")[0]).toMatchObject({ result: { content: "Found for finding." } });
    expect(of(one, "q2")[0]).not.toHaveProperty("sites");
  });

  test("counts no step of an item as one of the main line", () => {
    const wrote = folded(until("tool_progress", 4));
    expect(wrote.writing).toMatchObject({ stage: "writing", done: 1, total: 2, label: "Names" });
    const late = folded([...start(7, { type: "text", text: "One more." }, "q1"), writing(2, "Finds")], wrote);
    expect(folded(start(8, { type: "text", text: "Two more." }, "q1"), late).writing).toMatchObject({ label: "Finds" });
    const odd = { ...writing(3, "An item's own file"), parent: "q1" } as StreamEvent;
    expect(folded([odd], late).writing).toMatchObject({ label: "Finds" });
    expect(LIVE.some((_, at) => at > 1 && isAwaitingModel(folded(LIVE.slice(0, at + 1))))).toBe(false);
  });

  test("drops what a restart says is lost, and keeps the plan as it is", () => {
    const known = folded(until("budget_update"));
    const restarted = folded([{ type: "round_restart", from_index: 3 }], known);
    expect(planOf(restarted)?.items).toEqual(planned("running", "running"));
    expect(of(restarted, "q1")).toMatchObject([{ type: "tool_use", status: "pending", result: null }]);
    expect(of(restarted, "q2")).toMatchObject([{ type: "tool_use", status: "pending", result: null }]);
    // The adopter shows the work of an item again, behind what is left.
    const again = folded([...start(3, result("name"), "q1"), ...start(4, result("finding"), "q2")], restarted);
    expect(of(again, "q1")).toEqual(of(known, "q1"));
  });

  test("takes every event in once, however often a connection brings it", () => {
    const envelopes = LIVE.map((event, at) => ({ id: at + 1, event }));
    const once = envelopes.reduce(receive, EMPTY_ANSWER);
    for (const cut of [3, 9, 17, 26]) {
      const again = [...envelopes.slice(0, cut), ...envelopes.slice(Math.max(0, cut - 3))];
      expect(again.reduce(receive, EMPTY_ANSWER)).toEqual(once);
    }
  });

  test("ignores updates of a plan that is not there", () => {
    const odd: StreamEvent[] = [
      update("running", "running"),
      ...start(0, { type: "text", text: "Hm" }),
      update("done", "done"),
    ];
    expect(mainBlocks(folded(odd).blocks)).toMatchObject([{ type: "text" }]);
  });
});

test("a change of the plan is shown with the server's answer, while its run goes on", () => {
  const session = (answer: Answer): Session => ({
    ...NEW_SESSION,
    turns: turnsOf(HISTORY).map((turn) => ({ ...turn, answer })),
  });
  const view = {
    items: [...planned("running", "running"), { id: "q3", question: "Why?", status: "pending" as const }],
    steering: [],
  };
  const planned3 = { type: "planned", runId: "run", view } as const;
  const running = reduceSession(session(folded(until("budget_update"))), planned3);
  expect(planOf(running.turns[0]?.answer as Answer)?.items.map(({ id }) => id)).toEqual(["q1", "q2", "q3"]);
  const ended = session(folded(LIVE));
  expect(reduceSession(ended, planned3)).toBe(ended);
  expect(reduceSession(ended, { ...planned3, runId: "another" })).toBe(ended);
});
