import { ShieldCheck } from "lucide-react";
import { useWords } from "../../../lib/i18n";
import { api } from "../../../protocol/client";
import { Icon } from "../../../ui/Icon";
import type { Shown } from "./shown";
import { words } from "./words";

/** A page that somebody or something wrote. It runs with an origin of its own and without a network. */
export function HtmlView({ shown }: { shown: Shown }) {
  const t = useWords(words);
  const { sessionId, file, version } = shown;
  return (
    <>
      <p className="files-html-note">
        <Icon of={ShieldCheck} /> {t.htmlNote}
      </p>
      <iframe
        className="files-html"
        title={t.htmlTitle(file.filename)}
        sandbox="allow-scripts"
        referrerPolicy="no-referrer"
        src={api.frameUrl(sessionId, file.path, version.number)}
      />
    </>
  );
}
