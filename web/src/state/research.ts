/** What the user does with a research run while it goes on. A change of its plan is shown at once, and corrected by what the
 * server makes of it. */

import { Store } from "../lib/store";
import { api } from "../protocol/client";
import { type Answer, isActive, type PlanPart, planOf } from "./answer";
import { conversation, dispatch } from "./conversation";
import { edited, isOpen, type PlanEdit, wantedOf } from "./planChanges";

/** The changes that the server has not confirmed yet, in their order. */
export interface UnconfirmedEdit {
  runId: string;
  edit: PlanEdit;
}

export const planEdits = new Store<readonly UnconfirmedEdit[]>([]);

/** Changes that are made quickly one after the other are sent in their order, each on what the server made of the last. */
let sent: Promise<unknown> = Promise.resolve();

/** Throws what the server refused; the plan is then shown without the change. */
export function changePlan(runId: string, edit: PlanEdit): Promise<void> {
  const wanted = { runId, edit };
  planEdits.set((known) => [...known, wanted]);
  const sending = sent.then(() => send(wanted));
  sent = sending.catch(() => undefined);
  return sending;
}

async function send(wanted: UnconfirmedEdit): Promise<void> {
  const { runId, edit } = wanted;
  try {
    const plan = planOfRun(runId);
    if (!plan) return;
    const view = await api.changePlan(runId, wantedOf(edited(plan.items, edit), plan.items));
    dispatch({ type: "planned", runId, view });
  } finally {
    planEdits.set((known) => known.filter((one) => one !== wanted));
  }
}

function planOfRun(runId: string): PlanPart | null {
  const turn = conversation.get().turns.findLast(({ answer }) => answer.runId === runId);
  return turn && isActive(turn.answer) ? planOf(turn.answer) : null;
}

/** The report is written with what was found by now. */
export async function finish(runId: string): Promise<void> {
  await api.finish(runId);
}

/** Tells those who do the research something. */
export async function steer(runId: string, content: string): Promise<void> {
  dispatch({ type: "planned", runId, view: await api.steer(runId, content) });
}

/** The run that can be told something: its plan is there, and parts of it are not done. */
export function steerableRun({ turns }: { turns: readonly { answer: Answer }[] }): string | null {
  const answer = turns.at(-1)?.answer;
  if (!answer || !isActive(answer)) return null;
  return planOf(answer)?.items.some(isOpen) ? answer.runId : null;
}
