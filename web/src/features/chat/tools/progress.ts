import { number } from "../../../lib/format";
import type { Locale } from "../../../lib/i18n";
import type { ToolProgress } from "../../../protocol/events.gen";
import { words } from "./words";

/** "reading 3/5 · example.org". A stage that this page does not know is said as the tool calls it. */
export function progressText({ stage, done, total, label }: ToolProgress, locale: Locale, shown = ""): string {
  const t = words[locale];
  const known: Readonly<Record<string, string>> = {
    searching: t.searching,
    reading: t.reading,
    summarising: t.summarising,
    retrying: t.retrying,
    writing: t.writing,
    working: t.workingOn,
  };
  const counted = total === null ? "" : ` ${number(done, locale)}/${number(total, locale)}`;
  const about = label && label !== shown ? ` · ${label}` : "";
  return `${known[stage] ?? stage}${counted}${about}`;
}

const TELLING = ["query", "file_path", "path", "url", "pattern", "name", "prompt"] as const;

/** The argument that says most in a line: a query, a path, an address; not the text of a file. */
export function tellingArgument(input: Readonly<Record<string, unknown>>): string {
  const values = [...TELLING.map((name) => input[name]), ...Object.values(input)];
  const found = values.find((value) => typeof value === "string" && value.trim() !== "" && !value.includes("\n"));
  return typeof found === "string" ? readableAddress(found.trim()) : "";
}

/** Files of the session have internal addresses, such as `footnote://files/report.pdf`; readers know their names. */
function readableAddress(argument: string): string {
  if (!/^(?:footnote|local):\/\//.test(argument)) return argument;
  const name = argument.slice(argument.lastIndexOf("/") + 1);
  try {
    return decodeURIComponent(name) || argument;
  } catch {
    return name;
  }
}
