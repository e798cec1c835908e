import { copied } from "../../lib/clipboard";
import { wordsNow } from "../../lib/i18n";
import { toast } from "../../state/toasts";
import { words } from "./words";

/** Copies, and says whether it went well. */
export async function copy(plain: string, html?: string): Promise<boolean> {
  const done = await copied(plain, html);
  const t = wordsNow(words);
  if (done) toast(t.copied);
  else toast(t.copyFailed, { tone: "error" });
  return done;
}
