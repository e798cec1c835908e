import { useWords } from "../../../lib/i18n";
import type { CallPart } from "../../../state/answer";
import { Badge } from "../../../ui/Badge";
import { LongText } from "./LongText";
import { words } from "./words";

/** The first line says why; all of it stands inside. */
export function problemOf({ result }: CallPart): string {
  return result?.status === "error" ? (result.content.trim().split("\n", 1)[0] ?? "") : "";
}

/** What went into a tool, and what came out of it. */
export function Exchange({ call }: { call: CallPart }) {
  const t = useWords(words);
  const given = Object.entries(call.input);
  return (
    <dl className="chat-exchange">
      <dt>{t.input}</dt>
      <dd>
        {given.length === 0 && <span className="chat-soft">{t.nothing}</span>}
        {given.map(([name, value]) => (
          <div key={name} className="chat-argument">
            <Badge>{name}</Badge>
            <LongText label={name} text={typeof value === "string" ? value : JSON.stringify(value, null, 2)} />
          </div>
        ))}
      </dd>
      {call.result && <dt>{t.output}</dt>}
      {call.result && (
        <dd>
          <LongText label={t.output} text={call.result.content} />
        </dd>
      )}
    </dl>
  );
}
