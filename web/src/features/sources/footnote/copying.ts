import { copied } from "../../../lib/clipboard";
import { moment } from "../../../lib/format";
import { locale, wordsNow } from "../../../lib/i18n";
import type { SourceView } from "../../../protocol/events.gen";
import { toast } from "../../../state/toasts";
import type { Passage, Reading } from "./passages";
import { words } from "./words";

/** The passage word for word, and where it stands. */
export async function copyPassage(source: SourceView, { snapshot }: Reading, passage: Passage): Promise<void> {
  const t = wordsNow(words);
  const page = passage.page === null ? "" : `, ${t.page(passage.page)}`;
  const read = moment(snapshot.fetched_at, locale.get());
  const reference = t.reference(`${source.title || source.domain}${page}`, source.url, read);
  const done = await copied(`“${passage.text}”\n${reference}`);
  toast(done ? t.copied : t.notCopied, { tone: done ? "plain" : "error" });
}
