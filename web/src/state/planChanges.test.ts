import { expect, test } from "vitest";
import type { PlanItem } from "../protocol/events.gen";
import type { PlanPart } from "./answer";
import { confirmed, edited, isUnnamed, type PlanEdit, wantedOf } from "./planChanges";

const item = (id: string, status: PlanItem["status"] = "pending"): PlanItem => ({ id, question: `${id}?`, status });
const ITEMS = [item("q1", "done"), item("q2", "running"), item("q3"), item("q4", "done"), item("q5")];
const ids = (items: readonly PlanItem[]) => items.map(({ id }) => id);
const after = (...edits: PlanEdit[]) => edits.reduce(edited, ITEMS as readonly PlanItem[]);

test("pending items are dropped, reworded and moved past those that have begun", () => {
  expect(after({ type: "drop", id: "q3" })[2]).toEqual({ ...item("q3"), status: "dropped" });
  expect(after({ type: "reword", id: "q5", question: "Why?" })[4]).toMatchObject({ id: "q5", question: "Why?" });
  expect(ids(after({ type: "move", id: "q5", by: -1 }))).toEqual(["q1", "q2", "q5", "q4", "q3"]);
  expect(ids(after({ type: "move", id: "q3", by: 1 }))).toEqual(["q1", "q2", "q5", "q4", "q3"]);
});

test("what was dropped comes back to where it was", () => {
  const dropped = after({ type: "drop", id: "q3" });
  const restored = edited(dropped, { type: "restore", id: "q3" });
  expect(restored).toEqual(ITEMS);
  expect(wantedOf(restored, dropped)[2]).toEqual({ id: "q3", status: "pending" });
  expect(edited(ITEMS, { type: "restore", id: "q3" })).toBe(ITEMS);
});

test("items that have begun, and the ends of the list, stay where they are", () => {
  expect(after({ type: "drop", id: "q2" })).toBe(ITEMS);
  expect(after({ type: "reword", id: "q1", question: "Why?" })).toBe(ITEMS);
  expect(after({ type: "move", id: "q3", by: -1 })).toBe(ITEMS);
  expect(after({ type: "move", id: "q5", by: 1 })).toBe(ITEMS);
  expect(after({ type: "drop", id: "gone" })).toBe(ITEMS);
});

test("the server is told of all items in their order, and of what is to change about them", () => {
  const changed = after(
    { type: "add", question: "New?" },
    { type: "add", question: "Newer?" },
    { type: "drop", id: "q3" },
    { type: "reword", id: "q5", question: "Why?" },
  );
  expect(new Set(ids(changed)).size).toBe(7);
  expect(changed.filter(isUnnamed)).toHaveLength(2);
  expect(wantedOf(changed, ITEMS)).toEqual([
    { id: "q1" },
    { id: "q2" },
    { id: "q3", status: "dropped" },
    { id: "q4" },
    { id: "q5", question: "Why?" },
    { question: "New?" },
    { question: "Newer?" },
  ]);
});

test("a response that is older than an event takes no item back", () => {
  const plan: PlanPart = {
    type: "plan",
    items: [item("q1", "done"), item("q2", "running"), item("q3")],
    steering: ["a"],
  };
  const view = { items: [item("q3"), item("q1", "running"), item("q2"), item("q4")], steering: [] };
  expect(confirmed(plan, view)).toEqual({
    type: "plan",
    items: [item("q3"), item("q1", "done"), item("q2", "running"), item("q4")],
    steering: ["a"],
  });
  expect(confirmed(plan, { items: [item("q3", "dropped")], steering: ["a", "b"] })).toEqual({
    type: "plan",
    items: [item("q3", "dropped")],
    steering: ["a", "b"],
  });
});
