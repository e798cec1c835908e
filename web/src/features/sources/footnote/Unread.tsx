import { useWords } from "../../../lib/i18n";
import { useStore } from "../../../lib/store";
import type { PageReport, SourceView } from "../../../protocol/events.gen";
import { conversation } from "../../../state/conversation";
import { groupsOf, reportOf, sourceOf } from "../sourceGroups";
import { reasons } from "./reasons";
import { words } from "./words";

/** Why there is not the text of the page, where there is not. */
export function UnreadNote({ source, hasText }: { source: SourceView; hasText: boolean }) {
  const t = useWords(words);
  const report = useStore(conversation, (known) => reportOf(groupsOf(known.turns), source.url));
  const reason = useReason(report);
  if (source.status === "failed")
    return <p className="sources-unread">{hasText ? t.failedSnippet(reason) : t.failedNothing(reason)}</p>;
  if (source.status === "snippet") return <p className="sources-unread">{hasText ? t.onlySnippet : t.noSnippet}</p>;
  return hasText ? null : <p className="sources-unread">{t.nothingKept}</p>;
}

/** Nothing was kept of it: what the search said about it is all there is. */
export function Unread({ source }: { source: SourceView }) {
  const snippet = useStore(conversation, (known) => sourceOf(groupsOf(known.turns), source.number)?.snippet ?? "");
  return (
    <div className="sources-text">
      <UnreadNote source={source} hasText={snippet !== "" && source.status !== "read"} />
      {snippet && (
        <p className="sources-block" dir="auto">
          {snippet}
        </p>
      )}
    </div>
  );
}

function useReason(report: PageReport | null): string {
  const t = useWords(reasons);
  if (!report) return t.unknown;
  const { failure, http_status, reason } = report;
  const said = failure ? t[failure] : reason;
  return failure === "status" && http_status ? `${t.status} (HTTP ${http_status})` : (said ?? t.unknown);
}
