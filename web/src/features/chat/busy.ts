import { useStore } from "../../lib/store";
import { RequestFailed } from "../../protocol/client";
import { conversation } from "../../state/conversation";
import { activeTurn } from "../../state/select";
import { toast } from "../../state/toasts";
import type { Turn } from "../../state/turns";

/** While an answer is being made nothing else can be asked in its session. */
export function useBusy(): boolean {
  return useStore(conversation, (known) => activeTurn(known) !== null);
}

/** What is asked follows the last answer. */
export function useIsLast({ key }: Turn): boolean {
  return useStore(conversation, ({ turns }) => turns.at(-1)?.key === key);
}

export function turnOf(key: string): Turn | undefined {
  return conversation.get().turns.find((turn) => turn.key === key);
}

/** Says what the server refused. Whether it went well. */
export async function attempt(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!(error instanceof RequestFailed) || error.status !== 401)
      toast(error instanceof Error ? error.message : String(error), { tone: "error" });
    return false;
  }
}
