/** Changes of the plan of a research run, as the page shows them before the server has confirmed them. */

import type { PlanItem, PlanView, WantedItem } from "../protocol/events.gen";
import type { PlanPart } from "./answer";

/** What the user may do with a plan while items of it are pending. */
export type PlanEdit =
  | { type: "drop"; id: string }
  | { type: "restore"; id: string }
  | { type: "add"; question: string }
  | { type: "reword"; id: string; question: string }
  | { type: "move"; id: string; by: -1 | 1 };

/** The server gives an item its id; until then it has one of these. */
const UNNAMED = "new ";

export function isUnnamed({ id }: PlanItem): boolean {
  return id.startsWith(UNNAMED);
}

/** The items as they will be. Items that have begun stay as they are. */
export function edited(items: readonly PlanItem[], edit: PlanEdit): readonly PlanItem[] {
  if (edit.type === "add")
    return [...items, { id: `${UNNAMED}${items.length}`, question: edit.question, status: "pending" }];
  const from = edit.type === "restore" ? "dropped" : "pending";
  const at = items.findIndex((item) => item.id === edit.id && item.status === from);
  const item = items[at];
  if (!item) return items;
  if (edit.type === "drop") return items.with(at, { ...item, status: "dropped" });
  if (edit.type === "restore") return items.with(at, { ...item, status: "pending" });
  if (edit.type === "reword") return items.with(at, { ...item, question: edit.question });
  const other = neighbour(items, at, edit.by);
  const beside = items[other];
  return beside ? items.with(at, beside).with(other, item) : items;
}

/** The next pending item before or after this one; -1: it is the first or last of them. */
function neighbour(items: readonly PlanItem[], at: number, by: -1 | 1): number {
  const isPending = (item: PlanItem) => item.status === "pending";
  if (by < 0) return items.slice(0, at).findLastIndex(isPending);
  const found = items.slice(at + 1).findIndex(isPending);
  return found < 0 ? -1 : at + 1 + found;
}

/** What the server is told: all items in their order, of those that may change also how they are wanted. */
export function wantedOf(items: readonly PlanItem[], known: readonly PlanItem[]): Partial<WantedItem>[] {
  return items.map((item) => {
    if (isUnnamed(item)) return { question: item.question };
    // What is dropped is said to be: a new item with the same question is then one that is wanted.
    if (item.status === "dropped") return { id: item.id, status: "dropped" };
    const before = known.find(({ id }) => id === item.id);
    if (before?.status === "dropped") return { id: item.id, status: "pending" };
    if (before?.status !== "pending") return { id: item.id };
    return item.question === before.question ? { id: item.id } : { id: item.id, question: item.question };
  });
}

/** How far an item is. One that was dropped may be wanted again. */
const ORDER: Readonly<Record<PlanItem["status"], number>> = { pending: 0, dropped: 0, running: 1, failed: 2, done: 2 };

/** A response may be older than an event that came before it: no item goes back to what it was. */
export function confirmed(plan: PlanPart, { items, steering }: PlanView): PlanPart {
  const latest = items.map((item) => {
    const known = plan.items.find(({ id }) => id === item.id);
    return known && ORDER[known.status] > ORDER[item.status] ? known : item;
  });
  return { ...plan, items: latest, steering: steering.length < plan.steering.length ? plan.steering : steering };
}

/** It is still to be done. */
export function isOpen({ status }: PlanItem): boolean {
  return status === "pending" || status === "running";
}
