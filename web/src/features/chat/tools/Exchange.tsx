import { useWords } from "../../../lib/i18n";
import type { CallPart } from "../../../state/answer";
import { Badge } from "../../../ui/Badge";
import { LongText } from "./LongText";
import { words } from "./words";

const MAX_PROBLEM = 400;

/** Why a call failed: the first paragraph of what came back, on one line. All of it stands inside of the card. */
export function problemOf({ result }: CallPart): string {
  if (result?.status !== "error") return "";
  const paragraphs = result.content.trim().split(/\n\s*\n/);
  // A line that ends with a colon says nothing without what it announces.
  const why = /[:：]\s*$/.test(paragraphs[0] ?? "") ? paragraphs.slice(0, 2) : paragraphs.slice(0, 1);
  const said = why.join(" ").replace(/\s+/g, " ");
  return said.length > MAX_PROBLEM ? `${said.slice(0, MAX_PROBLEM)}…` : said;
}

/** What a tool is given, each argument as it is, or as it is `written` for whoever decides on it. */
export function Given({ input, written = asItIs }: { input: CallPart["input"]; written?: (text: string) => string }) {
  const t = useWords(words);
  const given = Object.entries(input);
  if (given.length === 0) return <span className="chat-soft">{t.nothing}</span>;
  return given.map(([name, value]) => (
    <div key={name} className="chat-argument">
      <Badge>{written(name)}</Badge>
      <LongText label={name} text={written(typeof value === "string" ? value : JSON.stringify(value, null, 2))} />
    </div>
  ));
}

const asItIs = (text: string) => text;

/** What went into a tool, and what came out of it. */
export function Exchange({ call }: { call: CallPart }) {
  const t = useWords(words);
  return (
    <dl className="chat-exchange">
      <dt>{t.input}</dt>
      <dd>
        <Given input={call.input} />
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
