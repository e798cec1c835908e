import { useWords } from "../../../lib/i18n";
import type { CallPart } from "../../../state/answer";
import { Badge, Spinner, type Tone } from "../../../ui/Badge";
import { words } from "./words";

const TONES: Record<CallPart["status"], Tone> = { pending: "outline", running: "outline", done: "plain", error: "bad" };

/** How far a call is. One that failed says so at once: its result may come later, after the other calls of its round. */
export function StatusBadge({ call, done }: { call: CallPart; done?: string }) {
  const t = useWords(words);
  if (call.cutOff) return <Badge tone="outline">{t.unfinished}</Badge>;
  if (call.asked) return <Badge tone="outline">{t.asks}</Badge>;
  return (
    <Badge tone={TONES[call.status]}>
      {call.status === "running" && <Spinner />}
      {call.status === "done" ? (done ?? t.done) : t[call.status]}
    </Badge>
  );
}
