import { Info } from "lucide-react";
import { useCallback } from "react";
import { useWords } from "../../../lib/i18n";
import { api } from "../../../protocol/client";
import { Icon } from "../../../ui/Icon";
import { useLoaded } from "./loading";
import { MarkdownText } from "./MarkdownText";
import { DownloadButton, Failed, Loading } from "./States";
import type { Shown } from "./versions";
import { words } from "./words";

/** What a document says, as the agent reads it. */
export function DocumentView({ shown, note }: { shown: Shown; note?: string }) {
  const t = useWords(words);
  const { sessionId, file } = shown;
  const load = useCallback(() => api.text(sessionId, file.path), [sessionId, file.path]);
  const { value, error, again } = useLoaded(load);
  if (error !== undefined) return <Failed error={error} onRetry={again} shown={shown} />;
  if (!value) return <Loading />;
  return (
    <div className="files-scroll">
      <div className="ui-notice files-note">
        <Icon of={Info} />
        <span>{note ?? t.asRead}</span>
        <DownloadButton shown={shown} original />
      </div>
      <MarkdownText shown={shown} text={value.text} footnotes={undefined} />
    </div>
  );
}
