import { conversation } from "../../../state/conversation";
import { searchOf } from "../../../state/select";
import type { Turn } from "../../../state/turns";

const known = new WeakMap<Turn, ReadonlySet<number>>();

/** The numbers of the sources that the searches of a turn found. */
export function numbersFound(turn: Turn): ReadonlySet<number> {
  const before = known.get(turn);
  if (before) return before;
  const calls = turn.answer.blocks.filter((block) => block.type === "tool_use");
  const sources = calls.flatMap((call) => searchOf(call)?.sources ?? []);
  const numbers = new Set(sources.map(({ number }) => number).filter((number) => typeof number === "number"));
  known.set(turn, numbers);
  return numbers;
}

/** Whether a number meant something when the turn was answered. What is found later does not change older answers. */
export function isKnownIn(turnKey: string, number: number): boolean {
  for (const turn of conversation.get().turns) {
    if (numbersFound(turn).has(number)) return true;
    if (turn.key === turnKey) return false;
  }
  return false;
}
