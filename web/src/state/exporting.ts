/** Files on their way out of a session: as they are, or as another kind of document. */

import { phrases, wordsNow } from "../lib/i18n";
import { Store } from "../lib/store";
import { api } from "../protocol/client";
import type { ConvertType } from "../protocol/events.gen";
import { toast } from "./toasts";

const words = phrases({
  en: { failed: (name: string, why: string) => `${name} was not saved. ${why}`, noted: (name: string) => `${name}:` },
  vi: { failed: (name: string, why: string) => `Chưa lưu được ${name}. ${why}`, noted: (name: string) => `${name}:` },
  zh: { failed: (name: string, why: string) => `未能保存 ${name}。${why}`, noted: (name: string) => `${name}：` },
});

/** The paths of files that are being fetched or converted now. */
export const exporting = new Store<ReadonlySet<string>>(new Set());

/** As it is. `version`: an earlier one. */
export function downloadFile(sessionId: string, path: string, version?: number): Promise<void> {
  return whileBusy(path, async () => {
    const { content, filename, download_url } = await api.content(sessionId, path, version);
    if (content === null) return save(download_url ?? api.rawUrl(sessionId, path, version), filename);
    const address = URL.createObjectURL(new Blob([content], { type: "application/octet-stream" }));
    save(address, filename);
    // Browsers read it a little after the click.
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  });
}

/** Converted by the server. It tells what could not be shown as it was written. */
export function exportFile(
  sessionId: string,
  path: string,
  kind: ConvertType,
  proof: "mark" | "plain" = "mark",
): Promise<void> {
  return whileBusy(path, async () => {
    const { download_url, filename, notes } = await api.convert(sessionId, path, kind, proof);
    save(download_url, filename);
    if (notes?.length) toast(`${wordsNow(words).noted(filename)} ${notes.join(" ")}`);
  });
}

/** Hands an address to the browser's own downloads. */
function save(address: string, filename: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = filename;
  link.hidden = true;
  document.body.append(link);
  link.click();
  link.remove();
}

async function whileBusy(path: string, work: () => Promise<void>): Promise<void> {
  if (exporting.get().has(path)) return;
  exporting.set((known) => new Set(known).add(path));
  try {
    await work();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    toast(wordsNow(words).failed(path.split("/").at(-1) || path, why), { tone: "error" });
  }
  exporting.set((known) => new Set([...known].filter((one) => one !== path)));
}
